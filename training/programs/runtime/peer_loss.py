"""Tells a lost peer from every other error of TensorFlow."""

from __future__ import annotations

import tensorflow as tf

_REMOTE = "GRPC error information from remote target /job:"
"""What TensorFlow adds to an error that another process answered with."""

_FORGOTTEN = ("unknown device", "unable to find the relevant tensor remote_handle")
"""How a process answers that was started again, so quickly that its end went unnoticed: it knows
nothing of what its predecessor held."""


def is_peer_loss(error: BaseException) -> bool:
    """Whether `error` is how TensorFlow reports that another process of the cluster went away.

    Wider classes would hide a user's errors: a wrong path is a NotFoundError.
    """
    error = _cause(error)
    text = str(error)
    lost = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError)
    if isinstance(error, lost):
        return True
    if isinstance(error, tf.errors.InvalidArgumentError) and _REMOTE in text:
        return any(words in text.lower() for words in _FORGOTTEN)
    return isinstance(error, tf.errors.OpError) and "Collective ops is aborted by" in text


def _cause(error: BaseException) -> BaseException:
    """The error itself where a coordinator reports it of what a step was to take in: its wrappers,
    ClosureInputError and ClosureAbortedError, are no errors of TensorFlow's kind."""
    while isinstance(original := getattr(error, "original_exception", None), BaseException):
        error = original
    return error
