"""The stack config as typed values: the only part of the program that reads it."""

from config.errors import ConfigErrors
from config.jobs import Job
from config.load import load
from config.parse import parse
from config.stack import Stack

__all__ = ["ConfigErrors", "Job", "Stack", "load", "parse"]
