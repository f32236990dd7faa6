"""What others than its owner have changed of a TFJob, by what the API server notes of who wrote
what: pure.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cluster.applied import owner

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Edit:
    """By which programs, such as kubectl-edit, and of what; `runPolicy.suspend` is a field."""

    managers: tuple[str, ...]
    fields: tuple[str, ...]


def edit_of(live: Mapping[str, Any]) -> Edit | None:
    """Of the specification of a TFJob as the API server has it. None where its owner wrote all of
    it, or where that cannot be told: who creates and never applies keeps no fields of his own."""
    mine = owner(live)
    if mine is None or mine.get("operation") != "Apply":
        return None
    own = set(_leaves(_spec(mine)))
    managers: dict[str, None] = {}
    fields: dict[str, None] = {}
    for entry in live["metadata"].get("managedFields") or []:
        if entry is mine or entry.get("subresource"):
            continue
        # A field that the owner has too has the owner's value.
        changed = [path for path in _leaves(_spec(entry)) if path not in own]
        if changed:
            managers[str(entry.get("manager"))] = None
            fields |= {_name(path): None for path in changed}
    return Edit(tuple(managers), tuple(fields)) if fields else None


def _spec(entry: Mapping[str, Any]) -> Fields:
    found: Fields = (entry.get("fieldsV1") or {}).get("f:spec") or {}
    return found


def _leaves(fields: Fields, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, part in fields.items():
        if key == ".":
            continue
        if any(inner != "." for inner in part):
            yield from _leaves(part, (*path, key))
        else:
            yield (*path, key)


def _name(path: tuple[str, ...]) -> str:
    return ".".join(step[2:] for step in path if step.startswith("f:"))
