"""What of a job was changed, in the words of the stack's file: its key, the old and new value."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from provider.compare import head_of
from provider.kinds import Properties

_ROLES = ("chief", "worker", "ps", "evaluator")
_SIZES = (
    "cpu",
    "cpuLimit",
    "memory",
    "memoryLimit",
    "gpus",
    "shm",
    "nodePool",
    "tolerations",
    "restartPolicy",
)
_KEYS = {
    "runPolicy.activeDeadlineSeconds": "deadline",
    "runPolicy.backoffLimit": "backoffLimit",
    "runPolicy.cleanPodPolicy": "cleanPodPolicy",
    "startTimeoutSeconds": "startTimeout",
    "waitTimeoutSeconds": "waitTimeout",
}
"""Inputs that the stack's file calls otherwise."""

_VARIABLES = ("environment", "secretEnvironment", "secretVariables")
"""Inputs of which only the names are told."""

_LIST = ("args", "command")
_LONG, _MANY = 40, 4


def changed_words(old: Properties, new: Properties, paths: Sequence[str]) -> str:
    """`worker 2 → 3, args --steps=200 → --steps=1500, env + API_TOKEN`. `paths` are those at which
    the inputs differ."""
    words = [*_replicas(old, new), *_run(old, new)]
    for head in dict.fromkeys(map(head_of, paths)):
        words += _of(head, old, new, [path for path in paths if head_of(path) == head])
    return (
        ", ".join(dict.fromkeys(words))
        or "its specification changed (`pulumi preview --diff` shows how)"
    )


def _of(head: str, old: Properties, new: Properties, paths: Sequence[str]) -> Iterator[str]:
    before, after = old.get(head), new.get(head)
    # Where all of the jobs is a secret, their arguments are too.
    hidden = bool(old.get("opaque") or new.get("opaque"))
    if head == "run":
        return
    if head == "roles":
        yield from _sizes(before or {}, after or {})
    elif head == "code":
        yield f"program changed ({', '.join(dict.fromkeys(map(_file, paths)))})"
    elif head in _VARIABLES:
        yield from _variables(before or {}, after or {})
    elif head == "secret":
        # A Secret is named by what it holds. Which variable it was, its names tell if they differ.
        if old.get("secretVariables") == new.get("secretVariables"):
            yield "a secret of env changed"
    elif head in _LIST and not hidden:
        yield from _list(head, before or [], after or [])
    elif isinstance(before, Mapping) or isinstance(after, Mapping):
        for path in paths:
            key = path.partition(".")[2]
            yield _value(_KEYS.get(path, key), (before or {}).get(key), (after or {}).get(key))
    elif hidden or isinstance(before, list) or isinstance(after, list):
        yield f"{head} changed"
    else:
        yield _value(_KEYS.get(head, head), before, after)


def _replicas(old: Properties, new: Properties) -> Iterator[str]:
    for role in _ROLES:
        before, after = (_count(inputs, role) for inputs in (old, new))
        if before != after:
            yield f"{role} {before} → {after}"


def _run(old: Properties, new: Properties) -> Iterator[str]:
    if old.get("run") != new["run"]:
        yield _value("run", old.get("run"), new["run"])


def _count(inputs: Properties, role: str) -> int:
    return int(inputs.get("roles", {}).get(role, {}).get("replicas", 0))


def _sizes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for role in _ROLES:
        if role not in old or role not in new:
            continue
        for key in _SIZES:
            before, after = old[role].get(key), new[role].get(key)
            if before != after and isinstance(before or after, list):
                yield f"{role} {key} changed"
            elif before != after:
                yield _value(f"{role} {key}", before, after)


def _file(path: str) -> str:
    file = re.search(r'"(.+)"', path) or re.fullmatch(r"code\.(.+)", path)
    return PurePath(file[1]).name if file else "its files"


def _variables(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """By name alone: what was put there in plain text is often no less secret."""
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            yield f"env + {name}"
        elif name not in new:
            yield f"env − {name}"
        elif old[name] != new[name]:
            yield f"env {name} changed"


def _list(key: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    before, after = _flags(old), _flags(new)
    gone, come = _without(before, after), _without(after, before)
    words = []
    for value in gone:
        other = next((found for found in come if _flag(found) == _flag(value)), None)
        if other is None:
            words.append(f"{key} − {_cut(value)}")
        else:
            come.remove(other)
            words.append(f"{key} {_cut(value)} → {_cut(other)}")
    words += [f"{key} + {_cut(value)}" for value in come]
    yield from words[:_MANY] or [f"{key} in another order"]
    if len(words) > _MANY:
        yield f"and {len(words) - _MANY} more of {key}"


def _flags(words: Sequence[str]) -> list[str]:
    """The words, a flag and its value together."""
    found: list[str] = []
    for word in words:
        last = found[-1] if found else ""
        if last.startswith("--") and not re.search("[= ]", last) and not word.startswith("-"):
            found[-1] = f"{last} {word}"
        else:
            found.append(word)
    return found


def _flag(word: str) -> str:
    return re.split("[= ]", word)[0] if word.startswith("-") else ""


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    left = list(words)
    for other in others:
        if other in left:
            left.remove(other)
    return left


def _value(key: str, old: Any, new: Any) -> str:
    return f"{key} {_shown(key, old)} → {_shown(key, new)}"


def _shown(key: str, value: Any) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if key in ("deadline", "startTimeout", "waitTimeout"):
        return _duration(int(value))
    # Of an image the end is what changes.
    return _end(str(value)) if key == "image" else _cut(str(value))


def _duration(seconds: int) -> str:
    """As a stack's file has it: 3600 is 1h, 5400 is 90m."""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _end(text: str) -> str:
    return text if len(text) <= _LONG else f"…{text[1 - _LONG :]}"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
