"""The request and answer bodies of TensorFlow Serving's REST predict API.

Source of the rules and of the error sentences: TensorFlow Serving's "RESTful API" page, for row
("instances") and columnar ("inputs") requests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from workloads.model_server.tensors import ApiError, Array, TensorSpec, json_value, shown, tensor


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a request body; NaN, Infinity and -Infinity are numbers.

    Raises ApiError 400 when it is empty, no JSON or no object.
    """
    if not body:
        raise ApiError(400, "JSON Parse error: The document is empty")
    try:
        document = json.loads(body)
    except json.JSONDecodeError as error:
        raise ApiError(400, f"JSON Parse error: {error.msg} at offset: {error.pos}") from None
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"JSON Parse error: {error}") from None
    if not isinstance(document, dict):
        raise ApiError(400, f"JSON Value: {shown(document)} Is not object")
    return document


def signature_name(document: Mapping[str, Any]) -> str:
    """The signature a request asks for, "" when it leaves the choice to the server."""
    name = document.get("signature_name", "")
    if not isinstance(name, str):
        raise ApiError(
            400,
            f"JSON Value: {shown(document)} not formatted correctly. "
            "'signature_name' key must be a string value.",
        )
    return name


def is_row_format(document: Mapping[str, Any]) -> bool:
    """True for "instances", False for "inputs"; ApiError 400 for both or neither."""
    rows, columns = "instances" in document, "inputs" in document
    if rows and columns:
        raise ApiError(
            400,
            f"JSON Value: {shown(document)} Not formatted correctly expecting only one of "
            "'inputs' or 'instances' keys to exist",
        )
    if not rows and not columns:
        raise ApiError(400, "Missing 'inputs' or 'instances' key")
    return rows


def tensors_from_rows(instances: Any, specs: Mapping[str, TensorSpec]) -> dict[str, Array]:
    """The input arrays of a row request: one more leading dimension, the number of rows."""
    if not isinstance(instances, list):
        raise ApiError(400, "Expecting 'instances' to be a list/array")
    if not instances:
        raise ApiError(400, "No values in 'instances' array")
    if not _is_named(instances[0]):
        if len(specs) > 1:
            raise ApiError(
                400,
                "instances is a plain list, but expecting list of objects as multiple input "
                "tensors required as per tensorinfo_map",
            )
        for index, row in enumerate(instances):
            if _is_named(row):
                raise ApiError(
                    400, f"Expecting value/list but got object at item {index} of input list"
                )
        ((name, spec),) = specs.items()
        return {name: tensor(name, instances, spec)}
    for index, row in enumerate(instances):
        if not _is_named(row):
            raise ApiError(400, f"Expecting object but got list at item {index} of input list")
        if row.keys() != specs.keys():
            raise ApiError(
                400,
                f"Failed to process element: {index} of 'instances' list. JSON object: "
                f"{shown(row)} keys must be equal to: {','.join(sorted(specs))}",
            )
    return {
        name: tensor(name, [row[name] for row in instances], spec) for name, spec in specs.items()
    }


def tensors_from_columns(inputs: Any, specs: Mapping[str, TensorSpec]) -> dict[str, Array]:
    """The input arrays of a columnar request, each in the shape it was sent in."""
    if not _is_named(inputs):
        if len(specs) > 1:
            raise ApiError(
                400,
                "inputs is a plain value/list, but expecting an object as multiple input tensors "
                "required as per tensorinfo_map",
            )
        ((name, spec),) = specs.items()
        return {name: tensor(name, inputs, spec)}
    for name in specs:
        if name not in inputs:
            raise ApiError(400, f"Missing named input: {name} in 'inputs' object.")
    return {name: tensor(name, inputs[name], spec) for name, spec in specs.items()}


def rows_from_tensors(outputs: Mapping[str, Array]) -> dict[str, Any]:
    """The body of an answer to a row request.

    Raises ApiError 400 when the outputs do not share their first dimension.
    """
    batch = -1
    for name in sorted(outputs):
        if outputs[name].ndim == 0:
            raise ApiError(400, f"Tensor name: {name} has no shape information")
        size = outputs[name].shape[0]
        if batch not in (-1, size):
            raise ApiError(
                400,
                f"Tensor name: {name} has inconsistent batch size: {size} expecting: {batch}",
            )
        batch = size
    lists = {name: json_value(name, outputs[name]) for name in sorted(outputs)}
    if len(lists) == 1:
        return {"predictions": next(iter(lists.values()))}
    return {
        "predictions": [
            dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)
        ]
    }


def columns_from_tensors(outputs: Mapping[str, Array]) -> dict[str, Any]:
    """The body of an answer to a columnar request."""
    lists = {name: json_value(name, outputs[name]) for name in sorted(outputs)}
    return {"outputs": next(iter(lists.values())) if len(lists) == 1 else lists}


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and not (len(value) == 1 and isinstance(value.get("b64"), str))
