"""Writes a trained model as a SavedModel with the signature serving_default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from runtime.errors import PROGRAM_RAISED, ReplicaError
from runtime.learner import build_model
from runtime.task import Task

_HELD = (tf.Variable, tf.saved_model.experimental.TrackableResource)
_HOLDERS = (tf.Module, keras.layers.Layer, *_HELD)


def check_export(task: Task, seed: int, batch_spec: Any) -> None:
    """Raises ReplicaError if the task's model could not be exported, which would otherwise be told
    after hours of training."""
    _exportable(task, build_model(task, seed, batch_spec))


def save_for_serving(task: Task, model: Any, directory: Path) -> None:
    """`directory` holds a SavedModel whose serving_default is Task.serve().

    `model` must have been made outside any strategy: distributed variables cannot be loaded by a
    server.
    """
    module, signature = _exportable(task, model)
    tf.saved_model.save(module, str(directory), signatures={"serving_default": signature})


def _exportable(task: Task, model: Any) -> tuple[tf.Module, Any]:
    """What is saved: a module that holds whatever serve() uses, and the traced signature."""
    try:
        serve, signature = _traced(task, model)
    except ReplicaError:
        raise
    except Exception as error:
        raise ReplicaError(
            "the model cannot be exported: tracing serve() for serving_inputs() failed with"
            f" {_one_line(error)}",
            PROGRAM_RAISED,
        ) from error
    module = tf.Module()
    module.serve = serve
    module.held = list(_held_by(model, *vars(task).values()))
    known = {id(getattr(held, "handle", None)) for held in module.held}
    known |= {id(getattr(held, "resource_handle", None)) for held in module.held}
    for tensor in signature.captured_inputs:
        if tensor.dtype in (tf.resource, tf.variant) and id(tensor) not in known:
            raise ReplicaError(
                "the model cannot be exported: serve() uses a variable or a table that belongs"
                " neither to the model nor to the task; make it an attribute of one of them"
            )
    return module, signature


def _traced(task: Task, model: Any) -> tuple[Any, Any]:
    inputs = task.serving_inputs(model)

    @tf.function(input_signature=[inputs])  # type: ignore[untyped-decorator]
    def serve(batch: dict[str, Any]) -> dict[str, Any]:
        outputs = task.serve(model, batch)
        if not isinstance(outputs, Mapping):
            raise TypeError(f"serve() gave {type(outputs).__name__}, not a dict of tensors by name")
        return dict(outputs)

    @tf.function  # type: ignore[untyped-decorator]
    def by_name(**batch: Any) -> dict[str, Any]:
        outputs: dict[str, Any] = serve(batch)
        return outputs

    return serve, by_name.get_concrete_function(**inputs)


def _one_line(error: Exception) -> str:
    """TensorFlow puts the places in the user's code first and the reason last."""
    text = str(error.args[0] if error.args else error)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no reason given"]
    name = type(error).__name__
    return lines[-1] if lines[-1].startswith(f"{name}:") else f"{name}: {lines[-1]}"


def _held_by(*holders: Any) -> Iterator[Any]:
    """Every variable and table in the holders, such as the vocabulary of a TextVectorization."""
    for holder in holders:
        if isinstance(holder, _HOLDERS):
            for part in tf.train.TrackableView(holder).descendants():
                held = part.value if isinstance(part, keras.Variable) else part
                if isinstance(held, _HELD):
                    yield held
