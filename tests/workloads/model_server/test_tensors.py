"""Values on their way between JSON and arrays, without a server and without TensorFlow."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from workloads.model_server.api import parse_object, rows_from_tensors
from workloads.model_server.tensors import ApiError, TensorSpec, json_value, tensor


def spec(dtype: str, *shape: int | None) -> TensorSpec:
    return TensorSpec(dtype, None if dtype == "string" else np.dtype(dtype), shape)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", [[0.5, 1.0], [3, -0.25]]),
        ("float64", [[1e300, -1e-300]]),
        ("float16", [[1.5, 65504.0]]),
        ("int8", [[-128, 127]]),
        ("uint64", [[0, 2**64 - 1]]),
        ("int64", [[-(2**63), 2**63 - 1]]),
        ("bool", [[True, False]]),
        ("string", [["a", "ä"]]),
        ("float32", []),
    ],
)
def test_values_come_back_as_they_went(dtype: str, value: list[Any]) -> None:
    free = spec(dtype, *([None] * np.ndim(value)))
    array = tensor("x", value, free)
    assert array.shape == np.shape(value)
    assert json_value("x", array) == value


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int8", 128),
        ("uint8", -1),
        ("int64", 2**63),
        ("int32", 1.0),
        ("int32", True),
        ("int32", "1"),
        ("bool", 1),
        ("float32", 1e39),
        ("float64", 10**400),
        ("float32", True),
        ("float32", None),
        ("float32", {"b64": "AAAA"}),
        ("string", 1),
        ("string", {"b64": 1}),
        ("string", {"b64": "AA", "other": 1}),
        ("string", "\ud800"),
    ],
)
def test_values_of_another_type_are_refused(dtype: str, value: object) -> None:
    with pytest.raises(ApiError) as refusal:
        tensor("x", [0.0, value] if dtype.startswith("float") else [value], spec(dtype, None))
    assert refusal.value.status == 400


@pytest.mark.parametrize("value", [[[1], 2], [1, [2]], [[1], [2, 3]], [[1], "ab"], [[], [1]]])
def test_ragged_lists_are_refused(value: object) -> None:
    unknown_rank = TensorSpec("int32", np.dtype("int32"), None)
    with pytest.raises(ApiError) as refusal:
        tensor("x", value, unknown_rank)
    assert refusal.value.status == 400


@pytest.mark.parametrize("shape", [(), (None, None), (3,), (None, 2)])
def test_a_shape_the_signature_does_not_allow(shape: tuple[int | None, ...]) -> None:
    with pytest.raises(ApiError, match=r"Input x has shape \[2\], expected \["):
        tensor("x", [1, 2], spec("int32", *shape))


def test_a_type_json_has_no_form_for() -> None:
    with pytest.raises(ApiError) as refusal:
        tensor("x", [1], spec("complex64", None))
    assert refusal.value.status == 501


def test_a_refused_value_is_shown_cut_short() -> None:
    with pytest.raises(ApiError) as refusal:
        tensor("x", ["x" * 100_000], spec("float32", None))
    assert len(refusal.value.message) < 250


@pytest.mark.parametrize("body", [b"[" * 200_000, b"\xff\xfe{", b'{"a": 1' + b"0" * 5000 + b"}"])
def test_bodies_that_no_parser_takes(body: bytes) -> None:
    with pytest.raises(ApiError) as refusal:
        parse_object(body)
    assert refusal.value.status == 400


def test_every_float32_survives_its_text() -> None:
    bits = np.random.default_rng(7).integers(0, 2**32, 20_000, dtype=np.uint64).astype(np.uint32)
    values = bits.view(np.float32)
    sent = json.loads(json.dumps(json_value("x", values)))
    with np.errstate(over="ignore"):
        received = np.array(sent, dtype=np.float64).astype(np.float32)
    assert np.array_equal(received, values, equal_nan=True)


def test_text_that_is_no_utf8_is_replaced_and_bytes_are_not() -> None:
    array = np.array([b"\xff"], dtype=object)
    assert json_value("text", array) == ["\ufffd"]
    assert json_value("image_bytes", array) == [{"b64": "/w=="}]


def test_an_output_without_rows_has_no_row_format() -> None:
    with pytest.raises(ApiError, match="Tensor name: x has no shape information"):
        rows_from_tensors({"x": np.array(1.0)})
