"""Trains a regression on a table: the demand for rented bicycles from hour, season and weather.

The table is synthetic: drawn with a fixed seed from a formula with noise, so it needs no file. It
shows a program that shares nothing with mnist.py but the interface: named inputs of two types, no
classes, another loss, another metric, a flag of its own.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from runtime import Task, train

SEASONS = 4
_TABLE_SEED = 7
_NOISE = 0.1


class Tabular(Task):
    def add_flags(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, default=6000, help="rows of the table")
        parser.add_argument("--hidden", type=int, default=32, help="units of each hidden layer")

    def model(self) -> Any:
        import keras
        from keras import layers

        weather = keras.Input((3,), name="weather")
        season = keras.Input((), dtype="int32", name="season")
        x = layers.Concatenate()([weather, layers.Embedding(SEASONS, 2)(season)])
        x = layers.Dense(self.options.hidden, activation="relu")(x)
        x = layers.Dense(self.options.hidden, activation="relu")(x)
        return keras.Model({"weather": weather, "season": season}, layers.Dense(1)(x))

    def dataset(self, split: str) -> Any:
        """Every fifth row is held out."""
        inputs, demand = table(self.options.rows)
        held_out = np.arange(self.options.rows) % 5 == 0
        chosen = held_out if split == "test" else ~held_out
        return {name: column[chosen] for name, column in inputs.items()}, demand[chosen]

    def loss(self, labels: Any, outputs: Any) -> Any:
        import keras

        return keras.ops.square(labels - outputs)

    def metrics(self, labels: Any, outputs: Any) -> dict[str, Any]:
        import keras

        return {"absolute_error": keras.ops.abs(labels - outputs)}

    def serve(self, model: Any, inputs: Any) -> dict[str, Any]:
        return {"demand": model(inputs, training=False)}


def table(rows: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Columns by name, and the demand: a wave over the hour, scaled by season and temperature."""
    random = np.random.default_rng(_TABLE_SEED)
    weather = random.uniform(-1, 1, (rows, 3)).astype(np.float32)
    season = random.integers(0, SEASONS, rows, dtype=np.int32)
    hour, temperature, rain = weather.T
    demand = np.sin(np.pi * hour) * (1 + season / SEASONS) + 0.5 * temperature - 0.5 * rain**2
    noisy = demand + random.normal(0, _NOISE, rows)
    return {"weather": weather, "season": season}, noisy.astype(np.float32)[:, np.newaxis]


if __name__ == "__main__":
    train(Tabular())
