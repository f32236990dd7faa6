"""A stack's own PersistentVolume whose claim was deleted by someone else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cluster.client import Cluster
from cluster.lookup import find
from cluster.ownership import owner_of

_VOLUMES = "/api/v1/persistentvolumes"


def released(cluster: Cluster, name: str, owners: Collection[str]) -> Mapping[str, Any] | None:
    """The volume `name`, where it is one of `owners` and holds on to a claim that is gone: no new
    claim of the same name gets it. None in any other case."""
    found = find(cluster, f"{_VOLUMES}/{name}")
    if found is None or owner_of(found["metadata"]) not in owners:
        return None
    is_released = (found.get("status") or {}).get("phase") == "Released"
    return found if is_released else None


def offer(cluster: Cluster, name: str, owners: Collection[str]) -> None:
    """Afterwards the volume waits for the next claim of the name that it is reserved for. What is
    on it stays: it is the claim's uid alone that is taken from it."""
    found = released(cluster, name, owners)
    if found is None:
        return
    cluster.merge(
        f"{_VOLUMES}/{name}",
        {
            # As it was looked at, and not after someone else has changed it.
            "metadata": {"resourceVersion": found["metadata"]["resourceVersion"]},
            "spec": {"claimRef": {"uid": None, "resourceVersion": None}},
        },
    )
