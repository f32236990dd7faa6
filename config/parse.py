"""From what stands in the config to a `Stack`, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from config.errors import ConfigErrors, Fault, Path, from_pydantic, nearest, normalised, plain_path
from config.jobs import Job
from config.notices import notices
from config.on_disk import disk_faults
from config.roles import ROLES
from config.rules import stack_faults
from config.secrets import SecretMarks, apply_marks
from config.stack import Stack

# jobs -> a job -> env -> a variable -> value is as deep as the schema goes.
_SCHEMA_DEPTH = 6

# Keys directly under a job that are no roles, written by someone who meant roles.
_MEANT_AS_ROLES = {"roles", "tfreplicaspecs", "parameterserver", "parameterservers", "coordinator"}


def parse(
    mapping: Mapping[str, Any],
    *,
    marks: SecretMarks | None = None,
    project_directory: FilePath | None = None,
    region: str | None = None,
) -> Stack:
    """The stack that `mapping`, its top-level keys without `ack-training:`, describes.

    With `project_directory`, programs have to be there, the shared folder usable, and the cluster
    be named by a kubeconfig of this machine. `region` is the value of `alicloud:region`. Raises
    ConfigErrors with all that is wrong at once, and nothing else whatever `mapping` holds.
    """
    if not isinstance(mapping, dict):
        raise ConfigErrors([Fault((), "must be a mapping").line(apply_marks({}, SecretMarks())[1])])
    marks = marks or SecretMarks()
    raw = _copy(mapping, _SCHEMA_DEPTH)
    faults, hidden = apply_marks(raw, marks)
    stack, errors = _validate(raw)
    faults += [from_pydantic(error, Stack, hidden) for error in errors]
    if stack is not None:
        wrong = [plain_path(error["loc"]) for error in errors]
        broken = frozenset(str(path[0]) for path in wrong if path)
        faults += [
            fault
            for fault in stack_faults(stack, _doubtful(wrong), broken)
            if not any(_is_of_what_is_left(fault.path, path) for path in wrong)
        ]
        if project_directory is not None:
            faults += disk_faults(stack, project_directory)
    if faults:
        faults.sort(key=Fault.sort_key)
        raise ConfigErrors(dict.fromkeys(fault.line(hidden) for fault in faults))
    assert stack is not None
    stack.settle(notices(stack, marks), "jobs" in marks.opaque, region)
    return stack


def _validate(raw: dict[Any, Any]) -> tuple[Stack | None, list[Any]]:
    """The stack, and what pydantic finds wrong.

    Where something is wrong the rest is still read, with the wrong values taken out, so that
    rules across settings are told in the same go.
    """
    found: list[Any] | None = None
    for _ in range(_SCHEMA_DEPTH):
        try:
            return Stack.model_validate(raw), found or []
        except ValidationError as invalid:
            errors = _told_once(invalid.errors(include_url=False))
        found = found or errors
        # Backwards, as list items are taken out by index and deeper errors come first so.
        for error in reversed(errors):
            missing = error["type"] == "missing"
            _take_out(raw, error["loc"][:-1] if missing else error["loc"])
    return None, found or []


def _is_of_what_is_left(path: Path, wrong: Path) -> bool:
    """Whether a rule on node pools that looks at `path` looked at what is left of it without the
    wrong value."""
    return path[:1] == ("nodePools",) and path in (wrong, wrong[:-1])


def _told_once(errors: list[Any]) -> list[Any]:
    """`errors` without "too short" of lists that only are so since their items are wrong."""
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(
            other is not error and other["loc"][: len(error["loc"])] == error["loc"]
            for other in errors
        )
    ]


def _take_out(raw: dict[Any, Any], loc: tuple[Any, ...]) -> None:
    """Removes the value at `loc`; where its mere presence means something, empties it."""
    parts = plain_path(loc)
    holder: Any = raw
    for part in parts[:-1]:
        if isinstance(holder, list) and isinstance(part, int):
            holder = holder[part]
        elif isinstance(holder, dict):
            holder = _get(holder, part)
    if not parts:
        raw.clear()
    elif isinstance(holder, list) and isinstance(parts[-1], int):
        # The others keep their indices.
        holder[parts[-1]] = "x"
    elif isinstance(holder, dict):
        key = next((key for key in holder if key == parts[-1] or str(key) == str(parts[-1])), None)
        if len(parts) == 3 and parts[0] == "jobs" and key in Job.present_when_empty:
            holder[key] = {}
        elif len(parts) == 3 and parts[0] == "datasets":
            raw["datasets"].pop(parts[1], None)
        else:
            holder.pop(key, None)


def _get(holder: dict[Any, Any], part: str | int) -> Any:
    return holder.get(part, next((v for k, v in holder.items() if str(k) == str(part)), None))


def _doubtful(broken: list[Path]) -> dict[str, frozenset[str]]:
    """For each job the keys whose value is wrong or that a misspelt key was meant for."""
    keys: dict[str, set[str]] = {}
    for path in broken:
        if len(path) < 3 or path[0] != "jobs":
            continue
        known, key = Job.settings(), str(path[2])
        meant = keys.setdefault(str(path[1]), set())
        if key in known:
            # Whether a role is there is clear, whatever is wrong about it.
            meant.update(set() if key in Job.present_when_empty else {key})
        elif normalised(key) in _MEANT_AS_ROLES:
            meant.update(ROLES)
        elif close := nearest(key, known):
            meant.add(close)
    return {job: frozenset(meant) for job, meant in keys.items()}


def _copy(value: Any, depth: int) -> Any:
    """A copy that can be changed as deep as the schema goes, which no recursion can exceed."""
    if depth and isinstance(value, dict):
        return {key: _copy(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, list):
        return [_copy(item, depth - 1) for item in value]
    return value
