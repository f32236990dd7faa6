"""The differences between two trees of properties, by the path the engine prints."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_ABSENT = object()


def changed_paths(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Paths such as `roles.worker.replicas` or `args[0]` at which `old` and `new` differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from changed_paths(
                old.get(key, _ABSENT), new.get(key, _ABSENT), _member(path, key)
            )
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changed_paths(before, after, f"{path}[{index}]")
    elif old is not new and old != new:
        yield path


def changed_beside(old: Any, new: Any, heads: Collection[str]) -> tuple[str, ...]:
    """`changed_paths`, without those that are of one of the properties `heads`."""
    return tuple(path for path in changed_paths(old, new) if head_of(path) not in heads)


def head_of(path: str) -> str:
    """The property that `roles.worker.replicas` or `args[0]` is of."""
    return re.split(r"[.\[]", path)[0]


def _member(path: str, key: str) -> str:
    if not key.replace("_", "").isalnum():
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key
