"""The object that a client declared, out of the one the API server made of it: pure.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SPEC = ("f:spec", "f:tfReplicaSpecs")


@dataclass(frozen=True)
class Applied:
    """What a TFJob's owner declared, and by which name and way the API server knows the owner."""

    manifest: Mapping[str, Any]
    manager: str
    by_apply: bool
    """Server-side apply; else the object was created as a whole."""


def applied(live: Mapping[str, Any]) -> Applied:
    """Of a TFJob as the API server has it: without defaults, status and what others added.

    ValueError when its managed fields name nobody who declared its replicas.
    """
    entry = owner(live)
    if entry is None:
        raise ValueError("nobody manages its tfReplicaSpecs")
    manifest = _owned(live, entry["fieldsV1"])
    manifest.pop("status", None)
    metadata = {
        key: value
        for key, value in (manifest.get("metadata") or {}).items()
        if key in ("labels", "annotations")
    }
    names = {key: live["metadata"][key] for key in ("name", "namespace")}
    return Applied(
        manifest={
            **manifest,
            "apiVersion": live["apiVersion"],
            "kind": live["kind"],
            "metadata": {**metadata, **names},
        },
        manager=entry["manager"],
        by_apply=entry.get("operation") == "Apply",
    )


def owner(live: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The managed fields of who declared a TFJob's replicas; None where nobody did."""
    entries: list[Mapping[str, Any]] = [
        entry
        for entry in live["metadata"].get("managedFields") or []
        if not entry.get("subresource") and _has(entry.get("fieldsV1") or {}, _SPEC)
    ]
    # Who applies is who declares: a mere edit may have touched the replicas later.
    entries.sort(key=lambda entry: entry.get("operation") != "Apply")
    return entries[0] if entries else None


def _has(fields: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    for step in path:
        if step not in fields:
            return False
        fields = fields[step]
    return True


def _owned(value: Any, fields: Mapping[str, Any]) -> Any:
    """The part of `value` that `fields` of a FieldsV1 name; all of it where they name no part."""
    parts = {key: part for key, part in fields.items() if key != "."}
    if isinstance(value, dict) and fields:
        return {
            key[2:]: _owned(value[key[2:]], part)
            for key, part in parts.items()
            if key.startswith("f:") and key[2:] in value
        }
    if isinstance(value, list) and fields:
        found = dict(pair for key, part in parts.items() for pair in _items(value, key, part))
        # As they stand: a FieldsV1 lists its keys by their text, and who declared the items
        # another way would find all of them changed.
        return [found[place] for place in sorted(found)]
    return value


def _items(values: list[Any], key: str, part: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    """The items of a list that one key of a FieldsV1 names, with their places."""
    kind, _, rest = key.partition(":")
    if kind == "k":
        keys = json.loads(rest)
        for place, value in enumerate(values):
            if isinstance(value, dict) and keys.items() <= value.items():
                yield place, {**keys, **_owned(value, part)} if part else value
                return
    elif kind == "v" and json.loads(rest) in values:
        place = values.index(json.loads(rest))
        yield place, values[place]
    elif kind == "i" and int(rest) < len(values):
        yield int(rest), _owned(values[int(rest)], part)
