"""Whose an object of the cluster is: a stack touches only what is its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.lookup import find_metadata, list_metadata

LABEL = "ack-training/stack"
"""On every object of a stack: `organization.project.stack`."""

_AT_ONCE = 4
"""Lists that are asked for side by side, as a preview waits for them; each has a connection made
for it, which takes longer than one list."""
_FEW = 3


def owner_of(metadata: Mapping[str, Any]) -> str | None:
    """The label of the stack that made the object of this metadata; None where none did."""
    label: str | None = (metadata.get("labels") or {}).get(LABEL)
    return label


def foreign(
    cluster: Cluster, name: str, owners: Collection[str], declared: Sequence[Mapping[str, Any]]
) -> str | None:
    """Why one of the objects that a stack is about to declare is not its own; None when all are, or
    are yet to be made. ClusterError when it cannot be asked.

    `name` is the stack's label; `owners` are that label, and those that it had before it was
    renamed; none for a state that has recorded nothing yet: what is there under the stack's own
    name is then another backend's.

    Each of `declared` is `{"path": …, "names": […], "kind": …, "hint": …}`: objects of one list of
    the API. With `"outlives": True` those of the stack's own name are what its destroy kept. With
    `"shared": True` also an object without an owner is taken over, as it is there for everyone: a
    namespace.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        lists = pool.map(lambda group: _named(cluster, group["path"], group["names"]), declared)
        for group, found in zip(declared, lists, strict=True):
            accepted = {*owners, *_also_accepted(group, name)}
            for metadata in found:
                label = owner_of(metadata)
                if label not in accepted:
                    return _refusal(cluster, group, name, label, str(metadata["name"]))
    return None


def _also_accepted(group: Mapping[str, Any], name: str) -> tuple[str | None, ...]:
    if group.get("shared"):
        return (None, name)
    return (name,) if group.get("outlives") else ()


def _refusal(
    cluster: Cluster, group: Mapping[str, Any], name: str, label: str | None, here: str
) -> str:
    of = f"stack {label}" if label else "no ack-training stack"
    if label == name:
        of += " in another backend"
    hint = f": {group['hint']}" if group.get("hint") else ""
    return f"{cluster.name} has {group['kind']} {here} already, and it is of {of}{hint}"


def _named(cluster: Cluster, path: str, names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Those of the objects that are there. One by one where they are few, else by one list."""
    if len(names) > _FEW:
        try:
            return [each for each in list_metadata(cluster, path) if each["name"] in names]
        except RefusedError as error:
            if error.not_found:
                return []
            # One may be allowed to read each, and not to list all.
            if error.status != 403:
                raise
    found = (find_metadata(cluster, f"{path}/{name}") for name in names)
    return [each for each in found if each is not None]
