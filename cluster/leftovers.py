"""Removes what others may use too once it is of no more use: namespaces and the TFJob definition.

To delete either deletes all that is in it, so neither is ever deleted with anything in it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.lookup import find
from cluster.ownership import LABEL

_NAMESPACES = "/api/v1/namespaces"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.3

_OF_EVERY_NAMESPACE = {
    "configmaps": ("kube-root-ca.crt",),
    "serviceaccounts": ("default",),
}

_HELD = (
    ("/api/v1", "persistentvolumeclaims"),
    ("/api/v1", "pods"),
    ("/api/v1", "services"),
    ("/api/v1", "secrets"),
    ("/api/v1", "configmaps"),
    ("/api/v1", "serviceaccounts"),
    ("/api/v1", "resourcequotas"),
    ("/api/v1", "limitranges"),
    ("/apis/apps/v1", "deployments"),
    ("/apis/apps/v1", "statefulsets"),
    ("/apis/apps/v1", "daemonsets"),
    ("/apis/batch/v1", "jobs"),
    ("/apis/batch/v1", "cronjobs"),
    ("/apis/networking.k8s.io/v1", "networkpolicies"),
    ("/apis/networking.k8s.io/v1", "ingresses"),
    ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
    ("/apis/kubeflow.org/v1", "tfjobs"),
)


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
        found = None if path in keep else find(cluster, path)
        if found is None or _owner(found) != owner:
            continue
        name = str(found["metadata"]["name"])
        held = _held_by(cluster, path, name)
        if held:
            kept.append(f"{found.get('kind', path)} {name} is kept: it holds {held}")
        else:
            _delete(cluster, path, found)
    return kept


def _paths(shared: Mapping[str, Sequence[str]]) -> Iterator[str]:
    # A namespace that holds TFJobs no longer shows them once their definition is gone.
    yield from (f"{_NAMESPACES}/{name}" for name in shared.get("namespaces", ()))
    yield from (f"{_DEFINITIONS}/{name}" for name in shared.get("definitions", ()))


def _held_by(cluster: Cluster, path: str, name: str) -> str:
    """What an object holds, in words; empty when nothing."""
    if path.startswith(_DEFINITIONS):
        plural, _, group = name.partition(".")
        jobs = _items(cluster, f"/apis/{group}/v1/{plural}")
        return f"{plural} of {jobs[0]['metadata']['namespace']}" if jobs else ""
    for api, plural in _HELD:
        ours = _OF_EVERY_NAMESPACE.get(plural, ())
        for item in _items(cluster, f"{api}/namespaces/{name}/{plural}"):
            if item["metadata"]["name"] not in ours:
                return f"{plural} {item['metadata']['name']}"
    return ""


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


def _items(cluster: Cluster, path: str) -> list[Mapping[str, Any]]:
    items: list[Mapping[str, Any]] = (find(cluster, path, limit=10) or {}).get("items") or []
    return items
