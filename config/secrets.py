"""Which values of the stack config are secret.

The engine hands a program the decrypted config and says only which top-level keys hold a secret
somewhere. Which value it is stands in the stack's file, where it is written `{secure: …}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from config.errors import Fault, Hidden, Path

_ONLY_ENV = "must not be secret: only env of a job carries secrets; move it there"


@dataclass(frozen=True)
class SecretMarks:
    """Paths of secret values, and top-level keys of which every value has to be taken for one."""

    leaves: frozenset[Path] = frozenset()
    opaque: frozenset[str] = frozenset()


def secret_leaves(written: object, received: object, at: Path) -> frozenset[Path] | None:
    """The secret values below `at`, when the file explains what was received; else None.

    `written` is the key's value in the stack's file with every scalar a string, `received` the
    engine's. They differ when the command read another file, and then nothing may be concluded.
    """
    found: set[Path] = set()
    pending: list[tuple[object, object, Path]] = [(written, received, at)]
    while pending:
        mine, theirs, path = pending.pop()
        if isinstance(mine, dict) and set(mine) == {"secure"}:
            found.add(path)
        elif isinstance(mine, dict):
            if not isinstance(theirs, dict) or set(mine) != set(theirs):
                return None
            pending.extend((mine[key], theirs[key], (*path, key)) for key in mine)
        elif isinstance(mine, list):
            if not isinstance(theirs, list) or len(mine) != len(theirs):
                return None
            pending.extend(
                (*pair, (*path, index)) for index, pair in enumerate(zip(mine, theirs, strict=True))
            )
        elif isinstance(theirs, (dict, list)) or (isinstance(theirs, str) and mine != theirs):
            return None
    return frozenset(found) if found and at not in found else None


def apply_marks(raw: dict[Any, Any], marks: SecretMarks) -> tuple[list[Fault], Hidden]:
    """Marks the secret variables in `raw` itself; returns secrets in wrong places and all that
    no message may show."""
    hidden = Hidden(sections=marks.opaque)
    faults = []
    for section in sorted(marks.opaque):
        hidden.strings.update(_strings(raw.get(section)))
        if section != "jobs":
            faults.append(Fault((section,), _ONLY_ENV))
    for path in sorted(marks.leaves, key=str):
        hidden.strings.update(_strings(_at(raw, path)))
        if not _is_variable(path):
            faults.append(Fault(path, _ONLY_ENV))
    for path, env in _environments(raw):
        for name, value in env.items():
            variable: Path = (*path, name)
            # Also with `secret` misspelt or not a boolean: it was meant to be one.
            meant = isinstance(value, dict) and value.get("secret") is not False
            if meant and set(value) - {"value"}:
                hidden.strings.update(_strings(value.get("value")))
            if not (path[0] in marks.opaque or {variable, (*variable, "value")} & marks.leaves):
                continue
            if isinstance(value, str):
                env[name] = {"value": value, "secret": True}
            elif isinstance(value, dict):
                value["secret"] = True
    return faults, hidden


def _is_variable(path: Path) -> bool:
    return (
        len(path) in (4, 5)
        and path[0] == "jobs"
        and path[2] == "env"
        and path[4:] in ((), ("value",))
    )


def _environments(raw: Mapping[Any, Any]) -> Iterator[tuple[Path, dict[Any, Any]]]:
    jobs = raw.get("jobs")
    for name, job in jobs.items() if isinstance(jobs, dict) else ():
        env = job.get("env") if isinstance(job, dict) else None
        if isinstance(env, dict):
            yield ("jobs", name, "env"), env


def _at(raw: object, path: Path) -> object:
    for part in path:
        if isinstance(raw, dict):
            raw = raw.get(part)
        elif isinstance(raw, list) and isinstance(part, int) and part < len(raw):
            raw = raw[part]
        else:
            return None
    return raw


def _strings(value: object) -> set[str]:
    """The scalars in `value`, as they could show up in a message."""
    found: set[str] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            pending.extend(current.values())
        elif isinstance(current, list):
            pending.extend(current)
        elif isinstance(current, str) and current:
            found.update({current, repr(current)[1:-1]})
        elif isinstance(current, (int, float)) and not isinstance(current, bool):
            # Python refuses to print integers of more than 4300 digits; no message shows them.
            with suppress(ValueError):
                found.add(repr(current))
    return found
