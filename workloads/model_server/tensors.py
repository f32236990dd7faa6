"""One JSON value and one array: how TensorFlow Serving's REST API writes tensors.

Source of the rules: TensorFlow Serving's "RESTful API" page, sections "JSON mapping",
"Encoding binary values" and "JSON conformance".
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
INTEGERS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})


class ApiError(Exception):
    """A request that is answered with ``status`` and ``{"error": message}``."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True)
class TensorSpec:
    """What a signature says of one input: dtype (TensorFlow's name) and shape.

    ``numpy_dtype`` is None for strings. ``shape`` has None for a free dimension and is None
    itself when the rank is unknown.
    """

    dtype: str
    numpy_dtype: Any
    shape: tuple[int | None, ...] | None


def tensor(name: str, value: Any, spec: TensorSpec) -> Array:
    """``value`` (nested lists or a scalar) as an array of the signature's dtype and shape.

    Raises ApiError 400 for ragged lists, values of another type, numbers out of range and a
    shape the signature does not allow; 501 for a dtype JSON has no form for.
    """
    leaves, shape = _flatten(value)
    if spec.shape is not None and not _fits(shape, spec.shape):
        expected = ",".join("-1" if size is None else str(size) for size in spec.shape)
        raise ApiError(
            400, f"Input {name} has shape [{','.join(map(str, shape))}], expected [{expected}]"
        )
    if spec.dtype == "string":
        strings = np.empty(len(leaves), dtype=object)
        strings[:] = [_bytes_of(leaf) for leaf in leaves]
        return strings.reshape(shape)
    return _numbers(leaves, spec).reshape(shape)


def json_value(name: str, array: Array) -> Any:
    """``array`` as JSON lists; strings of a tensor named ``*_bytes`` become ``{"b64": …}``.

    Other strings are text: bytes that are no UTF-8 are replaced, since JSON cannot carry them.
    """
    if array.dtype.kind in "OSU":
        as_bytes = name.endswith("_bytes")
        flat = [_json_string(item, as_bytes) for item in array.reshape(-1).tolist()]
        shaped = np.empty(len(flat), dtype=object)
        shaped[:] = flat
        return shaped.reshape(array.shape).tolist()
    kind = array.dtype.name
    if kind == "float32":
        # Through text, so that 0.2 is printed as 0.2 and not with a double's noise digits.
        return array.astype("U32").astype(np.float64).tolist()
    if kind in FLOATS:
        return array.astype(np.float64).tolist()
    if kind in INTEGERS or kind == "bool":
        return array.tolist()
    raise ApiError(400, f"Failed to write JSON value for tensor type: {kind}")


def _json_string(item: bytes | str, as_bytes: bool) -> str | dict[str, str]:
    raw = item.encode() if isinstance(item, str) else item
    if as_bytes:
        return {"b64": base64.b64encode(raw).decode("ascii")}
    return raw.decode("utf-8", errors="replace")


def _numbers(leaves: list[Any], spec: TensorSpec) -> Array:
    types = set(map(type, leaves))
    if spec.dtype == "bool":
        _require(leaves, types <= {bool}, {bool}, spec)
        return np.array(leaves, dtype=bool)
    if spec.dtype in INTEGERS:
        _require(leaves, types <= {int}, {int}, spec)
        limits = np.iinfo(spec.numpy_dtype)
        for leaf in (min(leaves, default=0), max(leaves, default=0)):
            if not limits.min <= leaf <= limits.max:
                raise ApiError(400, _type_error(leaf, spec))
        return np.array(leaves, dtype=spec.numpy_dtype)
    if spec.dtype in FLOATS:
        _require(leaves, types <= {int, float}, {int, float}, spec)
        try:
            wide = np.array(leaves, dtype=np.float64)
        except OverflowError:
            raise ApiError(400, f"Cannot convert JSON value to {spec.dtype}: too large") from None
        with np.errstate(over="ignore"):
            narrow = wide.astype(spec.numpy_dtype)
        if bool(np.any(np.isinf(narrow) & ~np.isinf(wide))):
            raise ApiError(400, f"Cannot convert JSON value to {spec.dtype}: too large")
        return narrow
    raise ApiError(501, f"Conversion of JSON Value to type: {spec.dtype} is not supported")


def _require(leaves: list[Any], good: bool, types: set[type], spec: TensorSpec) -> None:
    if not good:
        raise ApiError(
            400, _type_error(next(leaf for leaf in leaves if type(leaf) not in types), spec)
        )


def _type_error(leaf: Any, spec: TensorSpec) -> str:
    names = {
        bool: "True" if leaf is True else "False",
        dict: "Object",
        str: "String",
        type(None): "Null",
    }
    kind = names.get(type(leaf), "Number")
    return f"JSON Value: {shown(leaf)} Type: {kind} is not of expected type: {spec.dtype}"


def _bytes_of(leaf: Any) -> bytes:
    if isinstance(leaf, str):
        # A lone surrogate ("\ud800") is legal in JSON text and has no UTF-8 form.
        try:
            return leaf.encode()
        except UnicodeEncodeError:
            raise ApiError(400, f"JSON Value: {shown(leaf)} is not valid Unicode") from None
    if isinstance(leaf, dict):
        coded = leaf.get("b64")
        if len(leaf) != 1 or not isinstance(coded, str):
            raise ApiError(
                400, f"JSON Value: {shown(leaf)} not formatted correctly for base64 data"
            )
        try:
            return base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True)
        except (binascii.Error, ValueError):
            raise ApiError(400, "Unable to base64 decode") from None
    raise ApiError(400, _type_error(leaf, TensorSpec("string", None, None)))


def _flatten(value: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The leaves of nested lists in order, and their shape; all lists of a level are equal."""
    level: list[Any] = [value]
    shape: list[int] = []
    while level and isinstance(level[0], list):
        size = len(level[0])
        for item in level:
            if not isinstance(item, list):
                raise ApiError(
                    400, f"JSON Value: {shown(item)} found at incorrect level: {len(shape)}"
                )
            if len(item) != size:
                raise ApiError(
                    400,
                    f"Encountered list at unexpected size: {len(item)} at level: {len(shape)} "
                    f"expected size: {size}",
                )
        shape.append(size)
        level = list(chain.from_iterable(level))
    if any(isinstance(item, list) for item in level):
        raise ApiError(400, f"Encountered list at unexpected level: {len(shape)}")
    return level, tuple(shape)


def _fits(shape: tuple[int, ...], expected: tuple[int | None, ...]) -> bool:
    return len(shape) == len(expected) and all(
        size is None or size == sent for sent, size in zip(shape, expected, strict=True)
    )


def shown(value: Any) -> str:
    """``value`` as JSON, cut short: a refused image must not come back whole."""
    try:
        text = json.dumps(value)
    except RecursionError:
        return "..."
    return text if len(text) <= 120 else text[:117] + "..."
