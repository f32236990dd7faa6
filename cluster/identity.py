"""Which cluster it is that answers: a context may lead to another one than it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError

Identity = Mapping[str, Any]
"""`{"server": URL, "uid": …}`, as it is kept in a stack's state. `uid` is that of the namespace
kube-system, which each cluster has and makes once; None where the user may not read it."""


def identify(cluster: Cluster) -> dict[str, Any]:
    """ClusterError when it cannot be asked."""
    try:
        found = cluster.get("/api/v1/namespaces/kube-system")
    except RefusedError as error:
        if error.passing:
            raise
        return {"server": cluster.server, "uid": None}
    return {"server": cluster.server, "uid": found["metadata"]["uid"]}


def is_another(known: Identity, found: Identity) -> bool:
    """Whether they are two clusters. One that moved to another URL is the same; one of which not
    all is known may be."""
    return known["server"] != found["server"] and _differ(known, found)


def is_made_again(known: Identity, found: Identity) -> bool:
    """Whether a new cluster stands where the known one stood."""
    return known["server"] == found["server"] and _differ(known, found)


def _differ(known: Identity, found: Identity) -> bool:
    uids = {known.get("uid"), found.get("uid")}
    return len(uids - {None}) > 1
