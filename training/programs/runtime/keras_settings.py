"""Keras as every job has it, whatever the home directory of the user says."""

from __future__ import annotations

from collections.abc import MutableMapping

from runtime.errors import ReplicaError

BACKEND = "tensorflow"

NO_HOME = "/dev/null/keras"
"""A directory that cannot be: Keras finds no keras.json in it and leaves none. What Keras downloads
goes to /tmp/.keras then, by its own rule."""


def settle_keras(environment: MutableMapping[str, str]) -> None:
    """Keras, imported after this, uses TensorFlow and its own defaults.

    ~/.keras/keras.json may name another backend, number type or image layout, and would make a
    program another one on each machine. A KERAS_HOME that is set is a job's own wish and stays.
    Raises ReplicaError if the environment asks for another backend.
    """
    refuse_backend(environment.get("KERAS_BACKEND") or BACKEND)
    environment["KERAS_BACKEND"] = BACKEND
    environment.setdefault("KERAS_HOME", NO_HOME)


def refuse_backend(backend: str) -> None:
    """Raises ReplicaError for a backend of Keras other than TensorFlow."""
    if backend != BACKEND:
        raise ReplicaError(
            f"KERAS_BACKEND is {backend!r}, and jobs train with TensorFlow: leave it out, or set it"
            f" to {BACKEND}"
        )
