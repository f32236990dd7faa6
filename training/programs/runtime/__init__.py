"""Runs one training program in whichever way TF_CONFIG asks for.

A program is one file that says what to train; see runtime.task.Task. TensorFlow is not imported
until flags and TF_CONFIG were found right.
"""

from runtime.errors import DataError
from runtime.task import Task, train

__all__ = ["DataError", "Task", "train"]
