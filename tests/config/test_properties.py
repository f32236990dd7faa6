"""Whatever stands in the config, its reader answers with a stack or with lines."""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from config import ConfigErrors, Stack, parse
from config.docs import EXAMPLE
from config.secrets import SecretMarks

SECRET = "correct-horse-battery-staple"
VALID: dict[str, Any] = {
    key.removeprefix("ack-training:"): value
    for key, value in yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))["config"].items()
}

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["8GB", "worker", "-1", "6h", "..", "/", "a/../b", "datasets", "\ud800", "\0"]),
    st.just(10**4000),
)
keys = st.one_of(
    st.sampled_from(["jobs", "worker", "chief", "ps", "env", "value", "wroker", "args", "serve"]),
    st.text(max_size=8),
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def places(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, (dict, list)):
        inner = list(value.items() if isinstance(value, dict) else enumerate(value))
    return [at, *(place for key, each in inner for place in places(each, (*at, key)))]


PLACES = [place for place in places(VALID) if place]


def with_value(place: tuple[Any, ...], value: object, key: object = None) -> dict[str, Any]:
    """The valid config with another value at `place`, or beside it under `key`."""
    changed = copy.deepcopy(VALID)
    holder: Any = changed
    for part in place[:-1]:
        holder = holder[part]
    holder[place[-1] if key is None or isinstance(holder, list) else key] = value
    return changed


def _text(mapping: Any) -> str:
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(mapping, default=str, skipkeys=True)
    finally:
        sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)


def check(mapping: Any, marks: SecretMarks | None = None) -> list[str]:
    before = _text(mapping)
    try:
        stack = parse(mapping, marks=marks)
    except ConfigErrors as errors:
        assert errors.lines
        for line in errors.lines:
            assert line.startswith("ack-training:")
            assert line.isprintable()
            assert SECRET not in line
        return errors.lines
    finally:
        # Not ==, which NaN is not even to itself.
        assert _text(mapping) == before
    assert isinstance(stack, Stack)
    return []


@given(anything)
def test_anything_at_all(mapping: Any) -> None:
    check(mapping)


@settings(max_examples=250)
@given(st.sampled_from(PLACES), anything)
def test_a_valid_config_with_another_value(place: tuple[Any, ...], value: object) -> None:
    check(with_value(place, value))


@settings(max_examples=200)
@given(st.sampled_from(PLACES), keys | st.integers() | st.booleans(), anything)
def test_a_valid_config_with_another_key(
    place: tuple[Any, ...], key: object, value: object
) -> None:
    check(with_value(place, value, key))


@settings(max_examples=200)
@given(
    st.sampled_from(PLACES),
    st.sampled_from([SECRET, [SECRET], {"value": SECRET}, {SECRET[:4]: SECRET}, f"8{SECRET}B"]),
    st.booleans(),
)
def test_a_secret_is_in_no_line(place: tuple[Any, ...], value: Any, opaque: bool) -> None:
    marks = (
        SecretMarks(opaque=frozenset({place[0]}))
        if opaque
        else SecretMarks(leaves=frozenset({place}))
    )
    check(with_value(place, value), marks)


def test_errors_of_everywhere_come_at_once() -> None:
    broken = with_value(("jobs", "distributed-mnist", "worker", "gpus"), 0.5)
    broken["jobs"]["own"]["directory"] = "mnist"
    broken["storage"]["pth"] = "x"
    broken["jobs"]["mirrored-mnist"]["serve"] = {}
    assert [line.split(": ")[0] for line in check(broken)] == [
        "ack-training:jobs.distributed-mnist.worker.gpus",
        "ack-training:jobs.mirrored-mnist.serve",
        "ack-training:jobs.own.directory",
        "ack-training:storage.pth",
    ]


def test_numbers_too_long_to_print() -> None:
    lines = check({"jobs": {"m": {"program": "a.py", "chief": {}, "run": 10**5000}}})
    assert lines == [
        "ack-training:jobs.m.run: must be a whole number of at most 2147483647, "
        "got a very large number"
    ]
