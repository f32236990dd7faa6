"""A program whose training diverges: after step 30 by its rate, or at once by its gradient."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from runtime import Task, train


class Diverging(Task):
    def add_flags(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rate-after-30", type=float, default=0.01)
        parser.add_argument("--wrong-gradient", action="store_true")
        parser.add_argument("--wrong-test", action="store_true")

    def model(self) -> Any:
        import keras

        inputs = keras.Input((1,), name="x")
        return keras.Model(inputs, keras.layers.Dense(1)(inputs))

    def dataset(self, split: str) -> Any:
        x = np.linspace(-1, 1, 400, dtype=np.float32)[:, np.newaxis]
        wrong = split == "test" and self.options.wrong_test
        return x, (np.full_like(x, np.nan) if wrong else 3 * x + 1)

    def loss(self, labels: Any, outputs: Any) -> Any:
        import tensorflow as tf

        loss = tf.square(labels - outputs)
        if self.options.wrong_gradient:
            # Always 0, where the root has no slope.
            loss += tf.sqrt(tf.square(outputs - tf.stop_gradient(outputs)))
        return loss

    def optimizer(self) -> Any:
        import keras

        rates = [0.01, self.options.rate_after_30]
        return keras.optimizers.SGD(keras.optimizers.schedules.PiecewiseConstantDecay([30], rates))


if __name__ == "__main__":
    train(Diverging())
