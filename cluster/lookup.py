"""Looks for what may not be there."""

from __future__ import annotations

from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError


def find(cluster: Cluster, path: str, **query: str | int) -> dict[str, Any] | None:
    """The object, or list of objects, at `path`; None when there is none. ClusterError when it
    cannot be asked."""
    try:
        return cluster.get(path, **query)
    except RefusedError as error:
        if error.not_found:
            return None
        raise
