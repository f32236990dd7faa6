"""Starts a job of a cluster again: its TFJob is deleted, and the very same one created.

Killed at any point, the next call goes on from there: before anything is deleted, what was declared
is laid into a ConfigMap beside the TFJob, which stays until the TFJob is back.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cluster.applied import Applied, applied
from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.lookup import find
from cluster.observe import job_path, observe, read_job
from cluster.seen import JobSeen
from cluster.verdict import FAILED, state_of
from provider.kinds import Call, NotReady, Properties, ProviderError

MANAGER = "ack-training"
"""How the API server calls us where it notes who wrote what."""

_POLL_SECONDS = 0.5
_END_SECONDS = 180.0
"""Longer than pods take to end, unless their node is gone."""


@dataclass(frozen=True)
class _Kept:
    """What the ConfigMap holds: a TFJob to be created, in place of the one with `uid`."""

    uid: str
    declared: Applied


def restart(cluster: Cluster, call: Call, outputs: Properties) -> None:
    """Afterwards a TFJob is there that is neither failed nor runs pods of an older specification.

    Nothing happens where that is so already. ProviderError when there is no TFJob, and none to be
    created again; NotReady when the old one does not end.
    """
    namespace, name = call.inputs["namespace"], call.inputs["name"]
    seen = observe(cluster, namespace, name)
    kept = _read(cluster, namespace, name)
    if kept is None:
        if not seen.uid:
            raise ProviderError(
                f"{name}: its TFJob is gone: `pulumi refresh`, then `pulumi up`, creates it again"
            )
        why = _why(seen)
        if why is None:
            return
        call.announce(f"{why}: it is started again")
        kept = _keep(cluster, namespace, name)
    # Else it is back already: this is a second call, or its owner has declared another one.
    if seen.uid in ("", kept.uid) and _is_deleted(cluster, call, kept.uid, outputs):
        _create(cluster, namespace, name, kept.declared)
    forget(cluster, namespace, name)


def is_interrupted(cluster: Cluster, namespace: str, name: str) -> bool:
    """Whether a restart has begun and not ended."""
    return _read(cluster, namespace, name) is not None


def forget(cluster: Cluster, namespace: str, name: str) -> None:
    """Afterwards nothing of a restart is left on the cluster, but the TFJob."""
    try:
        cluster.delete(_path(namespace, name))
    except RefusedError as error:
        if not error.not_found:
            raise


def _why(seen: JobSeen) -> str | None:
    if state_of(seen) == FAILED:
        return "it had failed"
    declared = dict(seen.templates)
    for pod in seen.pods:
        # Of pods that tell nothing, nothing can be told.
        if pod.generation and not pod.deleting and pod.generation != declared.get(pod.role):
            return f"{pod.replica} runs what was declared before"
    return None


def _is_deleted(cluster: Cluster, call: Call, uid: str, outputs: Properties) -> bool:
    """Afterwards neither the TFJob with `uid` nor a pod of it is there; False where someone else
    has created another one meanwhile."""
    namespace, name = call.inputs["namespace"], call.inputs["name"]
    options = {"propagationPolicy": "Foreground", "preconditions": {"uid": uid}}
    try:
        cluster.delete(job_path(namespace, name), options)
    except RefusedError as error:
        if not (error.not_found or error.conflict):
            raise
    limit = time.monotonic() + _END_SECONDS
    while True:
        seen = observe(cluster, namespace, name)
        if seen.uid not in ("", uid):
            return False
        if not (seen.uid or seen.pods):
            return True
        left = ", ".join(pod.replica for pod in seen.pods) or "its TFJob"
        call.report(f"waits until {left} of the start before is gone")
        if call.cancelled():
            reason = f"{name}: interrupted while it was started again; `pulumi up` goes on"
            raise NotReady([reason], outputs)
        if time.monotonic() > limit:
            reason = (
                f"{name}: cannot be started again: {left} did not end within {_END_SECONDS:g} s: "
                "is the node still there? `pulumi up` goes on"
            )
            raise NotReady([reason], outputs)
        time.sleep(_POLL_SECONDS)


def _create(cluster: Cluster, namespace: str, name: str, declared: Applied) -> None:
    """By the name of whoever declared it, who then finds what he left."""
    try:
        if declared.by_apply:
            cluster.apply(job_path(namespace, name), declared.manifest, declared.manager)
        else:
            folder = job_path(namespace, name).rpartition("/")[0]
            cluster.post(folder, declared.manifest, fieldManager=declared.manager)
    except RefusedError as error:
        if error.conflict:
            return
        raise


def _keep(cluster: Cluster, namespace: str, name: str) -> _Kept:
    live = read_job(cluster, namespace, name)
    if live is None:
        raise ProviderError(f"{name}: its TFJob was deleted by someone else just now")
    try:
        kept = _Kept(live["metadata"]["uid"], applied(live))
    except ValueError as error:
        raise ProviderError(f"{name} cannot be started again: {error}") from error
    declared = kept.declared
    content = {
        "uid": kept.uid,
        "manifest": declared.manifest,
        "manager": declared.manager,
        "byApply": declared.by_apply,
    }
    cluster.apply(_path(namespace, name), _config_map(namespace, name, content), MANAGER)
    return kept


def _read(cluster: Cluster, namespace: str, name: str) -> _Kept | None:
    found = find(cluster, _path(namespace, name))
    if found is None:
        return None
    content = json.loads(found["data"]["job"])
    declared = Applied(content["manifest"], content["manager"], content["byApply"])
    return _Kept(content["uid"], declared)


def _config_map(namespace: str, name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": _name(name),
            "namespace": namespace,
            "labels": {"app.kubernetes.io/managed-by": MANAGER},
            "annotations": {
                "ack-training/purpose": f"TFJob {name}, while it is being started again"
            },
        },
        "data": {"job": json.dumps(content)},
    }


def _name(job: str) -> str:
    return f"ack-training-restart-{job}"


def _path(namespace: str, job: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps/{_name(job)}"
