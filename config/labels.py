"""Labels and taints of Kubernetes nodes."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import PlainValidator, WithJsonSchema

from config.base import BadValueError, Change, Section, Text, Whole, setting

# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
_PART = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
KEY_PATTERN = rf"^({_DNS_LABEL}(\.{_DNS_LABEL})*/)?{_PART}$"
VALUE_PATTERN = rf"^({_PART})?$"

KEY_RULE = "must be a label key such as pool or example.com/pool"
_VALUE_RULE = "must be a label value: letters, digits, -, _ and ., at most 63 characters"
_LONGEST_PREFIX = 253


def is_label_key(key: str) -> bool:
    """Whether `key` can be the key of a label or a taint."""
    prefix, _, _ = key.rpartition("/")
    return len(prefix) <= _LONGEST_PREFIX and re.fullmatch(KEY_PATTERN, key) is not None


def parse_key(text: str) -> str:
    """`text` when it is a label key."""
    if not is_label_key(text):
        raise BadValueError(KEY_RULE)
    return text


def parse_value(text: str) -> str:
    """`text` when it is a label value."""
    if not re.fullmatch(VALUE_PATTERN, text):
        raise BadValueError(_VALUE_RULE)
    return text


def parse_values(value: object) -> tuple[str, ...]:
    """One label value, or several of which a node has one."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise BadValueError("must not be empty", "write one value, or a list of values")
    strings = [each for each in values if isinstance(each, str)]
    if len(strings) < len(values):
        advice = "" if isinstance(value, (dict, list)) else "put it in quotes"
        raise BadValueError("must be a label value, a string, or a list of them", advice)
    return tuple(parse_value(each) for each in strings)


_value_schema = {"type": "string", "pattern": VALUE_PATTERN}

LabelKey = Annotated[str, Text(parse_key, "a string", KEY_PATTERN)]
LabelValue = Annotated[str, Text(parse_value, "a string", VALUE_PATTERN)]
LabelValues = Annotated[
    tuple[str, ...],
    PlainValidator(parse_values),
    WithJsonSchema({"anyOf": [_value_schema, {"type": "array", "items": _value_schema}]}),
]


class Toleration(Section):
    """A taint that replicas may be scheduled in spite of."""

    looks_like: ClassVar = "{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}"

    key: LabelKey | None = setting("Key of the taint; when absent, every taint.", Change.REPLACES)
    operator: Literal["Equal", "Exists"] = setting(
        "Equal: the taint has `value`. Exists: whatever value it has.", Change.REPLACES, "Equal"
    )
    value: LabelValue | None = setting("Value of the taint, for Equal.", Change.REPLACES)
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = setting(
        "Effect of the taint; when absent, every effect.", Change.REPLACES
    )
    toleration_seconds: Annotated[int, Whole(0, 2**31 - 1)] | None = setting(
        "How long a running replica stays after a NoExecute taint came, in seconds; when absent, "
        "for good.",
        Change.REPLACES,
    )
