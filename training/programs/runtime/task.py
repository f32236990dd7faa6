"""What the author of a training program writes: a model, a dataset and a loss."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runtime.flags import Options
from runtime.signature import arranged, named_inputs


class Task:
    """One thing to train. Subclass it, write model(), dataset() and loss(), call train().

    Import tensorflow and keras inside the methods, so that a wrong flag is told at once and not
    after the seconds TensorFlow takes to load. `self.options` holds the flags and
    `self.datasets_dir` the directory of datasets, in every method but add_flags().
    """

    options: Options
    datasets_dir: Path

    def model(self) -> Any:
        """A new keras.Model that takes one batch of inputs. Weights may be set here."""
        raise NotImplementedError(f"{type(self).__name__} has no model()")

    def dataset(self, split: str) -> Any:
        """Every example of "train", or of "test", which is held out.

        Either (inputs, labels), each an array or a dict of arrays with one row per example, or a
        finite tf.data.Dataset of single (inputs, labels). The runtime shuffles, repeats, shares
        out and batches. Raise DataError, naming the path, for a file missing or damaged.
        """
        raise NotImplementedError(f"{type(self).__name__} has no dataset()")

    def loss(self, labels: Any, outputs: Any) -> Any:
        """The loss of each example: a tensor whose first axis is the batch."""
        raise NotImplementedError(f"{type(self).__name__} has no loss()")

    def metrics(self, labels: Any, outputs: Any) -> Mapping[str, Any]:
        """Further figures of each example by name, shaped like the loss; means are reported."""
        return {}

    def prepare(self, inputs: Any, labels: Any) -> tuple[Any, Any]:
        """One batch of dataset() made ready for the model, with TensorFlow operations only."""
        return inputs, labels

    def check_data(self) -> None:
        """Raises DataError for a file missing or damaged, at once and without TensorFlow.

        Called before TensorFlow is loaded and before any other replica is waited for.
        """

    def optimizer(self) -> Any:
        """A new keras optimizer: Adam, its rate falling along a cosine from --learning-rate."""
        import keras

        rate = keras.optimizers.schedules.CosineDecay(
            self.options.learning_rate, decay_steps=self.options.steps
        )
        return keras.optimizers.Adam(rate)

    def serving_inputs(self, model: Any) -> dict[str, Any]:
        """tf.TensorSpec of each input of the exported signature; by default the model's inputs,
        where `inputs` is the name of one that has none. A model of a class of its own needs this.
        """
        import tensorflow as tf

        return {
            name: tf.TensorSpec(tensor.shape, tensor.dtype, name=name)
            for name, tensor in named_inputs(model).items()
        }

    def serve(self, model: Any, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Outputs by name of the exported signature serving_default, for a batch of inputs.

        Traced before the training begins, so that a mistake is told then. A variable or table that
        it uses is exported if it belongs to the model or is an attribute of the task.
        """
        return {"outputs": model(arranged(model, inputs), training=False)}

    def add_flags(self, parser: argparse.ArgumentParser) -> None:
        """Adds flags of this program's own; their values are in self.options."""


def train(task: Task, argv: Sequence[str] | None = None) -> None:
    """Takes this replica's part in training `task`, as flags, environment and TF_CONFIG say.

    Returns when there is nothing left to do for it; where TensorFlow's threads would keep the
    process, and on every error, it ends the process instead (exit codes: runtime.errors).
    `argv` defaults to the command line.
    """
    from runtime.run import run_task

    run_task(task, sys.argv[1:] if argv is None else argv)
