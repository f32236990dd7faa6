"""Trains a small convolutional network on handwritten digits (MNIST).

<datasets>/mnist holds the four standard IDX .gz files or the sample mnist-5k.npz.
"""

from __future__ import annotations

from typing import Any

from mnist_files import CLASSES, PIXELS, read_mnist
from runtime import Task, train


class Mnist(Task):
    def model(self) -> Any:
        import keras
        from keras import layers

        images = keras.Input((PIXELS, PIXELS), name="images")
        x = layers.Reshape((PIXELS, PIXELS, 1))(images)
        x = layers.Conv2D(16, 3, activation="relu")(x)
        x = layers.MaxPooling2D()(x)
        x = layers.Conv2D(32, 3, activation="relu")(x)
        x = layers.MaxPooling2D()(x)
        x = layers.Flatten()(x)
        x = layers.Dense(64, activation="relu")(x)
        return keras.Model(images, layers.Dense(CLASSES)(x))

    def dataset(self, split: str) -> Any:
        return read_mnist(self.datasets_dir / "mnist", split)

    def check_data(self) -> None:
        for split in ("train", "test"):
            self.dataset(split)

    def prepare(self, inputs: Any, labels: Any) -> tuple[Any, Any]:
        import tensorflow as tf

        return as_unit_range(tf.cast(inputs, tf.float32)), labels

    def loss(self, labels: Any, outputs: Any) -> Any:
        import tensorflow as tf

        return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(labels, tf.int32), outputs)

    def metrics(self, labels: Any, outputs: Any) -> dict[str, Any]:
        import tensorflow as tf

        return {"accuracy": tf.argmax(outputs, axis=-1) == tf.cast(labels, tf.int64)}

    def serve(self, model: Any, inputs: Any) -> dict[str, Any]:
        import tensorflow as tf

        probabilities = tf.nn.softmax(model(as_unit_range(inputs["images"]), training=False))
        return {"probabilities": probabilities, "classes": tf.argmax(probabilities, axis=-1)}


def as_unit_range(images: Any) -> Any:
    """Pixels from 0 to 1, whether they came as 0 to 1 or as 0 to 255: the brightest is 1."""
    import tensorflow as tf

    brightest = tf.reduce_max(images, axis=(1, 2), keepdims=True)
    return tf.math.divide_no_nan(images, brightest)


if __name__ == "__main__":
    train(Mnist())
