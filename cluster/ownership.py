"""Whose an object of the cluster is: a stack touches only what is its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cluster.client import Cluster
from cluster.lookup import find

LABEL = "ack-training/stack"
"""On every object of a stack: `organization.project.stack`."""


def foreign(
    cluster: Cluster, name: str, owners: Collection[str], declared: Sequence[Mapping[str, Any]]
) -> str | None:
    """Why one of the objects that a stack is about to declare is not its own; None when all are, or
    are yet to be made. ClusterError when it cannot be asked.

    `name` is the stack's label; `owners` are that label, and the one that it had before it was
    renamed; none for a state that has recorded nothing yet: what is there under the stack's own
    name is then another backend's.

    Each of `declared` is `{"path": …, "names": […], "kind": …, "hint": …}`: objects of one list of
    the API. With `"shared": True` an object without an owner is taken over, as it is there for
    everyone: a namespace.
    """
    for group in declared:
        names = [str(name) for name in group["names"]]
        for found in _named(cluster, str(group["path"]), names):
            labels = found["metadata"].get("labels") or {}
            label = labels.get(LABEL)
            if label in owners or (group.get("shared") and label in (None, name)):
                continue
            of = f"stack {label}" if label else "no ack-training stack"
            if label == name:
                of += " in another backend"
            here = found["metadata"]["name"]
            hint = f": {group['hint']}" if group.get("hint") else ""
            return f"{cluster.name} has {group['kind']} {here} already, and it is of {of}{hint}"
    return None


def _named(cluster: Cluster, path: str, names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Those of the objects that are there. One by one where they are few, else by one list."""
    if len(names) > _FEW:
        listed = find(cluster, path)
        items: list[Mapping[str, Any]] = (listed or {}).get("items") or []
        return [item for item in items if item["metadata"]["name"] in names]
    found = (find(cluster, f"{path}/{name}") for name in names)
    return [item for item in found if item is not None]


_FEW = 3
