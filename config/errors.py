"""What is wrong with a stack config, one line each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from config.base import NAMESPACE, BadValueError, Section, section_at
from config.roles import ROLES

Path = tuple[str | int, ...]

_LONGEST_SHOWN = 60
_LONGEST_WORD = 120
_SHORTEST_HIDDEN = 4
_OVERLONG = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")
"""A word that no one reads; a path that someone has is shorter."""
_PLAIN_KEY = re.compile("[A-Za-z_][A-Za-z0-9_-]*")


class ConfigErrors(Exception):
    """Everything that is wrong with a stack config; `lines` are one line each, sorted by path."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = list(lines)
        super().__init__("\n".join(self.lines))


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong at `path`; `got` is what stands there, where it may be shown."""

    path: Path
    message: str
    got: str = ""
    advice: str = ""

    def line(self, hidden: Hidden) -> str:
        """The fault in one line, without any of the hidden strings."""
        got = f", got {self.got}" if self.got else ""
        advice = f"; {self.advice}" if self.advice and self.got != _HIDDEN else ""
        place = path_text(self.path)
        text = hidden.strip(f"{place}: {self.message}{got}{advice}")
        return f"{NAMESPACE}:" + _one_line(_OVERLONG.sub(lambda found: _short(found[0]), text))

    def sort_key(self) -> tuple[list[tuple[bool, int, str]], str]:
        parts = [
            (True, 0, part) if isinstance(part, str) else (False, part, "") for part in self.path
        ]
        return parts, self.message


_HIDDEN = "[secret]"


@dataclass
class Hidden:
    """The strings that no line may show, and the sections of which no line may show a value."""

    strings: set[str] = field(default_factory=set)
    sections: frozenset[str] = frozenset()

    def strip(self, text: str) -> str:
        """`text` without the hidden strings. Very short ones are only kept out of shown values:
        here they would hit every second word."""
        for secret in sorted(self.strings, key=len, reverse=True):
            if len(secret) >= _SHORTEST_HIDDEN:
                text = text.replace(secret, _HIDDEN)
        return text

    def shown(self, path: Path, value: object) -> str:
        """`value` as a line may show it."""
        if path and path[0] in self.sections:
            return _HIDDEN
        if len(path) > 2 and path[0] == "jobs" and path[2] == "env":
            return ""
        if path[-1:] == ("url",):
            # A password may stand in it.
            return ""
        if value is None:
            return "nothing"
        if isinstance(value, (list, tuple)):
            return "a list"
        if isinstance(value, dict):
            return "a mapping"
        if isinstance(value, bool):
            return "true" if value else "false"
        try:
            text = repr(value)
        except ValueError:  # an integer of more digits than Python is willing to print
            return "a very large number"
        if any(secret and secret in str(value) for secret in self.strings):
            return _HIDDEN
        return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def path_text(path: Path) -> str:
    """`path` as `pulumi config set --path` takes it: `jobs.m.args[0]`, `jobs["a.b"]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{_short(part)}" if text else _short(part)
        else:
            text += f"[{json.dumps(_short(part), ensure_ascii=False)}]"
    return text


def from_pydantic(error: Any, root: type[Section], hidden: Hidden) -> Fault:
    """The fault that one entry of pydantic's `ValidationError.errors()` stands for."""
    path = plain_path(error["loc"])
    value = error["input"]
    got = hidden.shown(path, value)
    match error["type"]:
        case "value_error" if isinstance(error["ctx"]["error"], BadValueError):
            wrong = error["ctx"]["error"]
            advice = wrong.advice
            if wrong.rule == "must be a string" and isinstance(value, (bool, int, float)):
                advice = "put it in quotes"
            if isinstance(value, int) and path[-1:] and str(path[-1]) in (*ROLES, "master"):
                advice = f"write {path[-1]}: {{replicas: {max(value, 1)}}}"
            return Fault(path, wrong.rule, got, advice)
        case "extra_forbidden":
            return Fault(path, _unknown_key(path, root))
        case "missing":
            return Fault(path, "is missing")
        case "literal_error":
            choices = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            close = nearest(value, choices) if isinstance(value, str) else None
            advice = f"did you mean {close}?" if close else ""
            return Fault(path, f"must be one of {', '.join(choices)}", got, advice)
        case "bool_type":
            advice = "write it without quotes" if value in ("true", "false") else ""
            return Fault(path, "must be true or false", got, advice)
        case "invalid_key":
            return Fault(path, "is no key: a key is a string; put it in quotes")
        case "string_type" if error["loc"][-1] == "[key]":
            return Fault(path, "is no key: a key is a string; put it in quotes")
        case "string_type":
            return Fault(path, "must be a string", got, "put it in quotes")
        case "tuple_type" | "list_type":
            example = "[--steps=2000], each in quotes" if "args" in path else "[…], a list"
            return Fault(path, "must be a list", got, f"write {example}")
        case "too_short":
            return Fault(path, "must not be empty")
        case "dict_type" | "model_type":
            return Fault(path, "must be a mapping", got)
        case _:
            return Fault(path, "is not valid", got)


def plain_path(loc: tuple[Any, ...]) -> Path:
    """Where in the config `loc` points, without pydantic's own marks."""
    parts = loc[:-1] if loc and loc[-1] == "[key]" else loc
    return tuple(part if isinstance(part, (int, str)) else str(part) for part in parts)


def nearest(key: str, known: Iterable[str]) -> str | None:
    """The known key that `key` is most likely meant for; None when it is like none of them."""
    # Only needed when something is wrong, and slow to import.
    from difflib import get_close_matches

    by_spelling = {normalised(name): name for name in known}
    close = get_close_matches(normalised(key)[:100], by_spelling, n=1, cutoff=0.6)
    return by_spelling[close[0]] if close else None


def normalised(key: str) -> str:
    """`key` without case, - and _."""
    return key.lower().replace("_", "").replace("-", "")


def _unknown_key(path: Path, root: type[Section]) -> str:
    section = section_at(root, path[:-1])
    if section is None:
        return "unknown key"
    key, known = str(path[-1]), list(section.settings())
    reason = section.refused_keys.get(normalised(key))
    if reason:
        return reason
    meant = nearest(key, known)
    if meant is None:
        return f"unknown key; known keys are {', '.join(known)}" if known else "unknown key"
    roles = f" The roles are {', '.join(ROLES)}" if meant in ROLES else ""
    return f"unknown key; did you mean {meant}?{roles}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
