"""A program whose dataset is a tf.data.Dataset and whose model is built by its first batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from runtime import Task, train


class Streamed(Task):
    def model(self) -> Any:
        import keras
        from keras import layers

        return keras.Sequential(
            [
                layers.Dense(16, kernel_regularizer="l2"),
                layers.BatchNormalization(),
                layers.ReLU(),
                layers.Dropout(0.1),
                layers.Dense(1),
            ]
        )

    def dataset(self, split: str) -> Any:
        import tensorflow as tf

        random = np.random.default_rng(0 if split == "train" else 1)
        inputs = random.normal(size=(1200, 8)).astype(np.float32)
        labels = inputs.sum(axis=1, keepdims=True)
        return tf.data.Dataset.from_tensor_slices((inputs, labels)).map(lambda x, y: (x, y))

    def loss(self, labels: Any, outputs: Any) -> Any:
        import keras

        return keras.ops.square(labels - outputs)

    def serving_inputs(self, model: Any) -> dict[str, Any]:
        import tensorflow as tf

        return {"rows": tf.TensorSpec([None, 8], tf.float32, name="rows")}


if __name__ == "__main__":
    train(Streamed())
