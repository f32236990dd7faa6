"""What every section of the stack config shares: strictness, camelCase keys, documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import NoneType
from typing import Any, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

NAMESPACE = "ack-training"


class Change(StrEnum):
    """What the next `pulumi up` does when a setting of something that exists is edited."""

    REPLACES = "replaces the job; training resumes from its last checkpoint"
    NEW_RUN = "replaces the job; training starts anew, apart from earlier runs"
    MOVES = "replaces the job; training starts from what the new directory holds"
    IN_PLACE = "in place"
    RESTARTS = "in place; the service restarts"
    NEXT_WAIT = "in place; counts at the next wait"
    NEW_ROOT = "everything is run again on the new folder; the old folder is left as it is"
    FILLS = "in place; data already there is left alone"
    REDEPLOYS = "in place; its pod is replaced"
    NO_CHANGE = "nothing"
    OTHER_CLUSTER = "everything is made on the other cluster and deleted on this one; data stays"
    OTHER_NAMESPACE = "everything is made in the other namespace and deleted here; data stays"
    OTHER_STACK = "everything is built anew on the other target; use another stack instead"


class BadValueError(ValueError):
    """A value that breaks `rule`; `advice` says what the user probably meant, if that is known."""

    def __init__(self, rule: str, advice: str = "") -> None:
        super().__init__(rule)
        self.rule = rule
        self.advice = advice


def setting(
    description: str,
    on_change: Change,
    default: Any = None,
    *,
    default_factory: Callable[[], Any] | None = None,
    alias: str | None = None,
) -> Any:
    """A field that carries its reference text (unit, range) and what changing it does."""
    extra: dict[str, Any] = {"x-on-change": on_change.value}
    if default_factory is not None:
        return Field(
            default_factory=default_factory,
            description=description,
            json_schema_extra=extra,
            alias=alias,
        )
    return Field(default=default, description=description, json_schema_extra=extra, alias=alias)


class Section(BaseModel):
    """A mapping in the stack config: unknown keys and wrong types are errors, nothing is coerced.

    A key written with no value (`args:`) means the setting is left at its default, except for
    `present_when_empty`, whose bare key switches something on.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        # Only the root is ever validated on its own, so one schema is built and not one a section.
        defer_build=True,
        alias_generator=to_camel,
    )

    present_when_empty: ClassVar[frozenset[str]] = frozenset()
    # Keys people write here that mean something else, lower case without - and _: what to do.
    refused_keys: ClassVar[Mapping[str, str]] = {}
    # What this section looks like, for the message when something else stands in its place.
    looks_like: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_settings(cls, raw: Any) -> Any:
        if raw is None:
            return {}
        if not isinstance(raw, dict):
            advice = f"write {cls.looks_like}" if cls.looks_like else ""
            raise BadValueError("must be a mapping", advice)
        known = cls.settings()
        return {
            key: {} if value is None and key in cls.present_when_empty else value
            for key, value in raw.items()
            if value is not None or key not in known or key in cls.present_when_empty
        }

    @classmethod
    def settings(cls) -> dict[str, Any]:
        """The YAML keys of this section, each with its annotation."""
        return {field.alias or name: field.annotation for name, field in cls.model_fields.items()}


def section_at(root: type[Section], path: Sequence[str | int]) -> type[Section] | None:
    """The section whose mapping stands at `path` below `root`; None where there is none."""
    found: Any = root
    for part in path:
        if isinstance(found, type) and issubclass(found, Section):
            found = found.settings().get(str(part))
        else:
            found = get_args(found)[-1] if get_args(found) else None
        present = [option for option in get_args(found) if option is not NoneType]
        if NoneType in get_args(found) and len(present) == 1:
            found = present[0]
    return found if isinstance(found, type) and issubclass(found, Section) else None


class Whole:
    """Annotation of an int field: a whole number in a range; 2.0, "2" and true are none."""

    def __init__(self, at_least: int, at_most: int | None = None) -> None:
        self.at_least = at_least
        self.at_most = at_most

    def parse(self, value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= self.at_least:
            if self.at_most is None or value <= self.at_most:
                return value
            if self.at_least != self.at_most:
                raise BadValueError(f"must be a whole number of at most {self.at_most}")
        if self.at_least == self.at_most:
            raise BadValueError(f"must be {self.at_least}")
        raise BadValueError(f"must be a whole number of at least {self.at_least}")

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        bounds: dict[str, Any] = {"type": "integer", "minimum": self.at_least}
        return bounds if self.at_most is None else bounds | {"maximum": self.at_most}


class Port(Whole):
    """Annotation of an int field: a port that no administrator's right is needed for."""

    def __init__(self) -> None:
        super().__init__(1024, 65535)

    def parse(self, value: object) -> int:
        try:
            return super().parse(value)
        except BadValueError:
            raise BadValueError("must be a port from 1024 to 65535") from None


class Text:
    """Annotation of a field read from a string by `read`, which raises BadValueError."""

    def __init__(self, read: Callable[[str], object], what: str, pattern: str = "") -> None:
        self.read = read
        self.what = what
        self.pattern = pattern

    def parse(self, value: object) -> object:
        if not isinstance(value, str):
            raise BadValueError(f"must be {self.what}")
        if "\0" in value:
            raise BadValueError("must not hold a NUL character")
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise BadValueError("must be valid Unicode text")
        return self.read(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string"} | ({"pattern": self.pattern} if self.pattern else {})
