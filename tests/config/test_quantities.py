"""Quantities are read to numbers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.base import BadValueError
from config.quantities import Cpu, Memory, parse_cpu, parse_duration, parse_memory


@pytest.mark.parametrize(
    ("value", "millicores", "text"),
    [
        (2, 2000, "2"),
        (0.5, 500, "500m"),
        ("2", 2000, "2"),
        ("500m", 500, "500m"),
        ("1.5", 1500, "1500m"),
    ],
)
def test_cpu(value: object, millicores: int, text: str) -> None:
    assert parse_cpu(value) == Cpu(millicores)
    assert str(parse_cpu(value)) == text


@pytest.mark.parametrize(
    ("value", "size_bytes", "text"),
    [
        ("8Gi", 8 * 1024**3, "8Gi"),
        ("8G", 8 * 1000**3, "7812500Ki"),
        ("1.5Gi", 1536 * 1024**2, "1536Mi"),
        ("500M", 500_000_000, "500000000"),
        ("1100k", 1_100_000, "1100000"),
        (1048576, 1024**2, "1Mi"),
    ],
)
def test_memory(value: object, size_bytes: int, text: str) -> None:
    assert parse_memory(value) == Memory(size_bytes)
    assert str(parse_memory(value)) == text


@pytest.mark.parametrize(
    ("text", "seconds"), [("6h", 21600), ("90m", 5400), ("2h30m", 9000), ("1d1s", 86401)]
)
def test_duration(text: str, seconds: int) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@given(st.integers(1, 10**7))
def test_cpu_reads_what_it_writes(millicores: int) -> None:
    assert parse_cpu(str(Cpu(millicores))) == Cpu(millicores)


@given(st.integers(1024**2, 2**63 - 1))
def test_memory_reads_what_it_writes(size_bytes: int) -> None:
    assert parse_memory(str(Memory(size_bytes))) == Memory(size_bytes)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none()))
def test_anything_else_is_refused_in_words(value: object) -> None:
    for parse in (parse_cpu, parse_memory, parse_duration):
        try:
            parse(value)
        except BadValueError as error:
            assert error.rule.startswith("must be")


@pytest.mark.parametrize("text", ["6h\n", "٦h", "8Gi\n", "٨Gi", " 6h", "1h1h", "h", "+1h"])
def test_look_alikes_are_refused(text: str) -> None:
    for parse in (parse_cpu, parse_memory, parse_duration):
        with pytest.raises(BadValueError):
            parse(text)
