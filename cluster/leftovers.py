"""Removes what others may use too once it is of no more use: namespaces and the TFJob definition.

To delete either deletes all that is in it, so neither is ever deleted with anything in it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.holdings import held_by_definition, held_in_namespace
from cluster.lookup import find
from cluster.ownership import owner_of

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.3


def is_anothers(cluster: Cluster, owners: Collection[str], path: str) -> bool:
    """Whether the object at `path` is there and none of `owners` made it."""
    found = find(cluster, path)
    return found is not None and owner_of(found["metadata"]) not in owners


def remove(cluster: Cluster, owners: Collection[str], path: str) -> str | None:
    """Afterwards the namespace or definition at `path` is gone, if one of `owners` made it and it
    is empty. A sentence where it stays because of what it holds, or may hold."""
    try:
        return _remove(cluster, owners, path)
    except RefusedError as error:
        return f"{path.rpartition('/')[2]} is kept: {error}"


def _remove(cluster: Cluster, owners: Collection[str], path: str) -> str | None:
    found = find(cluster, path)
    if found is None or owner_of(found["metadata"]) not in owners:
        return None
    name = str(found["metadata"]["name"])
    if path.startswith(_DEFINITIONS):
        held = held_by_definition(cluster, found)
    else:
        held = held_in_namespace(cluster, name)
    if held:
        return f"{found.get('kind', path)} {name} is kept: {held}"
    _delete(cluster, path, found)
    return None


def _delete(cluster: Cluster, path: str, found: Mapping[str, Any]) -> None:
    """Only that very object, as it was looked at."""
    metadata = found["metadata"]
    conditions = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    try:
        cluster.delete(path, {"preconditions": conditions})
    except RefusedError as error:
        # Gone, or changed by someone who may have a use for it.
        if not (error.not_found or error.conflict):
            raise
        return
    # Until then nothing can be made in its place, as the next `up` may want to.
    limit = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < limit and (left := find(cluster, path)) is not None:
        if left["metadata"]["uid"] != metadata["uid"]:
            return
        time.sleep(_POLL_SECONDS)
