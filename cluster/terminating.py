"""Volumes of a stack that someone deleted, and that are gone once nothing uses them any more."""

from __future__ import annotations

from collections.abc import Collection

from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.ownership import LABEL, owner_of


def terminating(
    cluster: Cluster, path: str, kind: str, owner: str, names: Collection[str] = ()
) -> list[str]:
    """A sentence for each object of the list at `path` that is the stack's by its label, or is one
    of `names`, and is being deleted; none where the user may not look."""
    # With names of others' objects the label cannot choose.
    query = {} if names else {"labelSelector": f"{LABEL}={owner}"}
    try:
        found = cluster.get(path, **query)
    except RefusedError:
        return []
    return [
        f"{kind} {metadata['name']} is being deleted: what uses it runs on, and no new pod can "
        "have it"
        for metadata in (item["metadata"] for item in found.get("items") or [])
        if metadata.get("deletionTimestamp")
        and (owner_of(metadata) == owner or metadata["name"] in names)
    ]
