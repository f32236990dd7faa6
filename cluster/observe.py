"""Asks the API server about a training job."""

from __future__ import annotations

import time
from typing import Any

from cluster.api_objects import JOB_LABEL, event_seen, job_seen, pod_seen, with_events
from cluster.client import Cluster
from cluster.errors import ClusterError, RefusedError
from cluster.lookup import find
from cluster.progress import progress_of
from cluster.seen import CONTAINER, EventSeen, JobSeen, PodSeen
from supervisor.job_progress import JobProgress

_PROGRESS_LINES = 30
"""The newest line that tells a step is among so many, unless the program itself is talkative."""

_PODS_ASKED_ABOUT = 8
"""Of so many pods that do not run yet the events are read: what keeps the others is the same."""


def job_path(namespace: str, name: str) -> str:
    return f"/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs/{name}"


def pod_path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


def observe(cluster: Cluster, namespace: str, name: str) -> JobSeen:
    """The job as it is now, with its pods, its events, and those of pods that do not run.

    Pods are listed where the TFJob is gone, too: they may take a while to end. ClusterError when
    the cluster does not answer or does not let the user look.
    """
    job = read_job(cluster, namespace, name)
    listed = cluster.get(
        f"/api/v1/namespaces/{namespace}/pods", labelSelector=f"{JOB_LABEL}={name}"
    )
    pods = [pod_seen(found) for found in listed["items"]]
    asked = [pod.name for pod in pods if _is_kept(pod)][:_PODS_ASKED_ABOUT]
    pods = [
        with_events(pod, _events(cluster, namespace, "Pod", pod.name)) if pod.name in asked else pod
        for pod in pods
    ]
    if job is None:
        return JobSeen(name, namespace, pods=tuple(pods))
    return job_seen(job, pods, _events(cluster, namespace, "TFJob", name))


def read_job(cluster: Cluster, namespace: str, name: str) -> dict[str, Any] | None:
    """The TFJob as the API has it; None when there is none."""
    return find(cluster, job_path(namespace, name))


def log_tail(
    cluster: Cluster, namespace: str, pod: str, lines: int, *, container: str, previous: bool
) -> list[str]:
    """The last lines that a container has written; none when the cluster has no log of it.

    `previous`: those of the process before the one that runs now.
    """
    query: dict[str, str | int] = {"container": container, "tailLines": lines}
    if previous:
        query["previous"] = "true"
    try:
        return cluster.text(f"{pod_path(namespace, pod)}/log", **query).splitlines()
    except RefusedError:
        # The container never ran, or its log is gone with it or with its node.
        return []


def replica_progress(cluster: Cluster, namespace: str, pod: str) -> JobProgress | None:
    """The progress that the log of a replica's pod tells; None when it tells none."""
    lines = log_tail(cluster, namespace, pod, _PROGRESS_LINES, container=CONTAINER, previous=False)
    return progress_of(lines, time.time())


def job_progress(cluster: Cluster, namespace: str, name: str) -> JobProgress | None:
    """The progress of the job, by its chief or else worker 0; None where neither tells any."""
    for replica in ("chief-0", "worker-0"):
        found = replica_progress(cluster, namespace, f"{name}-{replica}")
        if found is not None:
            return found
    return None


class OperatorSeen:
    """Whether the operator is at work on other jobs while it does not react to one: it sees to one
    after the other, with 20 requests each second, and a hundred jobs take it minutes."""

    def __init__(self) -> None:
        self._newest = 0.0

    def is_at_work(self, cluster: Cluster, seen: JobSeen) -> bool:
        """Whether it has said anything new of a job in the namespace since the last such look, or
        since the job was created."""
        try:
            found = cluster.get(
                f"/api/v1/namespaces/{seen.namespace}/events",
                fieldSelector="involvedObject.kind=TFJob",
            )
        except ClusterError:
            # It cannot be told now, and is asked again.
            return True
        newest = max((event_seen(event).last for event in found["items"]), default=0.0)
        before, self._newest = max(self._newest, seen.created), newest
        return newest > before


def _is_kept(pod: PodSeen) -> bool:
    """Whether something keeps the pod from running, which its events may explain."""
    started = pod.containers and all(c.running or c.ended for c in pod.containers)
    return not pod.deleting and pod.phase in ("Pending", "Running") and not started


def _events(cluster: Cluster, namespace: str, kind: str, name: str) -> list[EventSeen]:
    found = cluster.get(
        f"/api/v1/namespaces/{namespace}/events",
        fieldSelector=f"involvedObject.kind={kind},involvedObject.name={name}",
    )
    return [event_seen(event) for event in found["items"]]
