"""Writes a trained model as a SavedModel with the signature serving_default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

from runtime.task import Task


def save_for_serving(task: Task, model: Any, directory: Path) -> None:
    """`directory` holds a SavedModel whose serving_default is Task.serve().

    `model` must have been made outside any strategy: distributed variables cannot be loaded by a
    server.
    """
    inputs = task.serving_inputs(model)

    @tf.function(input_signature=[inputs])  # type: ignore[untyped-decorator]
    def serve(batch: dict[str, Any]) -> dict[str, Any]:
        return dict(task.serve(model, batch))

    module = tf.Module()
    module.variables_of_model = [variable.value for variable in model.variables]
    module.serve = serve

    @tf.function  # type: ignore[untyped-decorator]
    def by_name(**batch: Any) -> dict[str, Any]:
        outputs: dict[str, Any] = serve(batch)
        return outputs

    signature = by_name.get_concrete_function(**inputs)
    tf.saved_model.save(module, str(directory), signatures={"serving_default": signature})
