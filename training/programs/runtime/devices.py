"""How this process uses the GPUs it sees."""

from __future__ import annotations

import tensorflow as tf


def prepare_gpus() -> int:
    """TensorFlow takes GPU memory as it needs it, not all of it. Returns the number of GPUs."""
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    return len(gpus)


def leave_gpus() -> None:
    """This process computes nothing worth a GPU: those it sees are left to others."""
    tf.config.set_visible_devices([], "GPU")
