"""Tells a lost peer from every other error of TensorFlow."""

from __future__ import annotations

import tensorflow as tf


def is_peer_loss(error: Exception) -> bool:
    """Whether `error` is how TensorFlow reports that another process of the cluster went away.

    Wider classes would hide a user's errors: a wrong path is a NotFoundError.
    """
    lost = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError)
    if isinstance(error, lost):
        return True
    return isinstance(error, tf.errors.OpError) and "Collective ops is aborted by" in str(error)
