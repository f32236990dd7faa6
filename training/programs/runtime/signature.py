"""Names of a model's inputs in its exported signature, and the way back to the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runtime.errors import ReplicaError

_AUTOMATIC = re.compile(r"keras_tensor(_[0-9]+)?")
"""Keras's name of an unnamed input; its number tells how many tensors the process made so far."""


def named_inputs(model: Any) -> dict[str, Any]:
    """Each input of the model by a name that is the same in every process: its key where the model
    takes a dict, else its own name, else `inputs`, or `inputs_<position>` of several.

    Raises ReplicaError for a model that does not know its inputs.
    """
    structure = _structure(model)
    if isinstance(structure, Mapping):
        return dict(structure)
    if not structure:
        raise ReplicaError(
            f"{type(model).__name__} does not tell its inputs, so it cannot be exported: write"
            " serving_inputs() in the program, or build the model of keras.Input tensors"
        )
    return {
        (f"inputs_{position}" if len(structure) > 1 else "inputs")
        if _AUTOMATIC.fullmatch(tensor.name)
        else tensor.name: tensor
        for position, tensor in enumerate(structure)
    }


def arranged(model: Any, inputs: Mapping[str, Any]) -> Any:
    """`inputs` as the model takes them: by key, in order, or one alone."""
    structure = _structure(model)
    if isinstance(structure, Mapping) and structure.keys() == inputs.keys():
        return dict(inputs)
    if len(inputs) == 1:
        return next(iter(inputs.values()))
    names = list(named_inputs(model)) if structure else []
    return [inputs[name] for name in names] if set(names) == set(inputs) else dict(inputs)


def _structure(model: Any) -> Any:
    """A dict or list of the model's input tensors; empty for a model of a class of its own."""
    try:
        structure = model.input
    except (AttributeError, ValueError):
        # A Sequential model has them in a list only.
        structure = getattr(model, "inputs", None) or []
    return structure if isinstance(structure, Mapping | list | tuple) else [structure]
