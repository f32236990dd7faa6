"""Removes what others may use too once it is of no more use: namespaces and the TFJob definition.

To delete either deletes all that is in it, so neither is ever deleted with anything in it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.holdings import held_by_definition, held_in_namespace
from cluster.lookup import find
from cluster.ownership import LABEL

_NAMESPACES = "/api/v1/namespaces"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.3


def present(cluster: Cluster, owner: str, shared: Mapping[str, Sequence[str]]) -> list[str]:
    """Those of the stack's `namespaces` and `definitions` that were there before the stack."""
    return [
        path
        for path in _paths(shared)
        if (found := find(cluster, path)) is not None and _owner(found) != owner
    ]


def remove(
    cluster: Cluster, owner: str, shared: Mapping[str, Sequence[str]], keep: Sequence[str]
) -> list[str]:
    """Afterwards each of the stack's `namespaces` and `definitions` that is empty, and that the
    stack made, is gone. Those in `keep` were there before it. A sentence for each that stays
    because of what it holds."""
    kept = []
    for path in _paths(shared):
        if path in keep:
            continue
        try:
            sentence = _remove(cluster, owner, path)
        except RefusedError as error:
            sentence = f"{path.rpartition('/')[2]} is kept: {error}"
        if sentence:
            kept.append(sentence)
    return kept


def _remove(cluster: Cluster, owner: str, path: str) -> str | None:
    """Why what the stack made is kept; None where it is gone, or is another's."""
    found = find(cluster, path)
    if found is None or _owner(found) != owner:
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


def _paths(shared: Mapping[str, Sequence[str]]) -> Iterator[str]:
    # A namespace that holds TFJobs no longer shows them once their definition is gone.
    yield from (f"{_NAMESPACES}/{name}" for name in shared.get("namespaces", ()))
    yield from (f"{_DEFINITIONS}/{name}" for name in shared.get("definitions", ()))


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


def _owner(found: Mapping[str, Any]) -> str | None:
    label: str | None = (found["metadata"].get("labels") or {}).get(LABEL)
    return label
