"""Quantities of CPU, memory and time, read once and kept as numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from config.base import BadValueError

# https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
_UNITS = {
    "": 1,
    **{unit: 1000**power for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": 1024**power for power, unit in enumerate("KMGTPE", start=1)},
}
_MEBIBYTE = 1024**2
_MOST_BYTES = 2**63 - 1
_MOST_CPUS = 10_000
_MOST_SECONDS = 365 * 24 * 3600

_NUMBER = r"[0-9]{1,19}(?:\.[0-9]{1,9})?"
CPU_PATTERN = rf"^(?:{_NUMBER}|[0-9]{{1,19}}m)$"
MEMORY_PATTERN = rf"^{_NUMBER}(?:[KMGTPE]i|[kMGTPE])?$"
DURATION_PATTERN = r"^(?=.)(?:[0-9]{1,9}d)?(?:[0-9]{1,9}h)?(?:[0-9]{1,9}m)?(?:[0-9]{1,9}s)?$"


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU time in thousandths of a core."""

    millicores: int

    def __str__(self) -> str:
        """As Kubernetes writes it: `2`, `500m`."""
        if self.millicores % 1000 == 0:
            return str(self.millicores // 1000)
        return f"{self.millicores}m"


@dataclass(frozen=True, slots=True)
class Memory:
    """An amount of memory in bytes."""

    size_bytes: int

    def __str__(self) -> str:
        """As Kubernetes writes it, in the largest binary unit that divides it: `8Gi`."""
        for unit, factor in reversed(_UNITS.items()):
            if unit.endswith("i") and self.size_bytes % factor == 0:
                return f"{self.size_bytes // factor}{unit}"
        return str(self.size_bytes)


def parse_cpu(value: object) -> Cpu:
    """Cores from 2, 0.5, "2" or "500m"; more than 0, no finer than a thousandth."""
    rule = 'must be a number of CPU cores such as 2, 0.5 or "500m"'
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise BadValueError(rule)
    if isinstance(value, float) and not math.isfinite(value):
        raise BadValueError(rule)
    text = value if isinstance(value, str) else _digits(value, rule)
    if not _matches(CPU_PATTERN, text):
        raise BadValueError(rule)
    millicores = Decimal(text[:-1]) if text.endswith("m") else Decimal(text) * 1000
    if millicores != int(millicores):
        raise BadValueError("must be no finer than a thousandth of a core (1m)")
    if not 0 < millicores <= _MOST_CPUS * 1000:
        raise BadValueError(f"must be more than 0 and at most {_MOST_CPUS} CPU cores")
    return Cpu(int(millicores))


def parse_memory(value: object) -> Memory:
    """Bytes from "8Gi", "500M" or a whole number of bytes; at least 1Mi."""
    rule = 'must be an amount of memory such as "8Gi" or "500M"'
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise BadValueError(rule)
    text = value if isinstance(value, str) else _digits(value, rule)
    if not _matches(MEMORY_PATTERN, text):
        raise BadValueError(rule, _meant_memory(text))
    number = text.rstrip("KMGTPEki")
    size = Decimal(number) * _UNITS[text[len(number) :]]
    if size != int(size):
        raise BadValueError("must be a whole number of bytes")
    if size < _MEBIBYTE:
        advice = f"write {number}Gi or {number}Mi" if number == text and size > 0 else ""
        raise BadValueError("must be at least 1Mi", advice)
    if size > _MOST_BYTES:
        raise BadValueError("must be less than 8Ei")
    return Memory(int(size))


def parse_duration(value: object) -> timedelta:
    """A time span from whole days, hours, minutes and seconds: `6h`, `90m`, `2h30m`."""
    rule = "must be a duration such as 90s, 30m, 6h or 2h30m"
    number = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_SECONDS
    text = str(value) if number else value
    if not isinstance(text, str):
        raise BadValueError(rule)
    if not _matches(DURATION_PATTERN, text):
        advice = "write 1h30m for one and a half hours" if "." in text else ""
        if re.fullmatch("[0-9]{1,8}", text):
            advice = f"write {text}s, {text}m or {text}h"
        raise BadValueError(rule, advice)
    parts = {part[-1]: int(part[:-1]) for part in re.findall("[0-9]+[dhms]", text)}
    seconds = (
        parts.get("d", 0) * 24 * 3600
        + parts.get("h", 0) * 3600
        + parts.get("m", 0) * 60
        + parts.get("s", 0)
    )
    if not 0 < seconds <= _MOST_SECONDS:
        raise BadValueError("must be more than 0s and at most 365d")
    return timedelta(seconds=seconds)


def _matches(pattern: str, text: str) -> bool:
    # fullmatch, because $ alone lets a trailing line break through.
    return re.fullmatch(pattern, text) is not None


def _digits(value: int | float, rule: str) -> str:
    try:
        return format(Decimal(str(value)), "f")
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        raise BadValueError(rule) from None


def _meant_memory(text: str) -> str:
    found = re.fullmatch(r"([0-9]{1,19}(?:\.[0-9]{1,9})?) ?([kmgtpe])(i?)b?", text, re.IGNORECASE)
    if found is None:
        return ""
    number, unit, binary = found[1], found[2].upper(), bool(found[3])
    decimal = "k" if unit == "K" else unit
    return f"write {number}{unit}i" if binary else f"write {number}{decimal} or {number}{unit}i"


CpuQuantity = Annotated[
    Cpu,
    PlainValidator(parse_cpu),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": CPU_PATTERN},
            ]
        }
    ),
]
_memory_schema: dict[str, Any] = {
    "anyOf": [
        {"type": "integer", "minimum": _MEBIBYTE},
        {"type": "string", "pattern": MEMORY_PATTERN},
    ]
}
MemoryQuantity = Annotated[Memory, PlainValidator(parse_memory), WithJsonSchema(_memory_schema)]
Duration = Annotated[
    timedelta,
    PlainValidator(parse_duration),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]
