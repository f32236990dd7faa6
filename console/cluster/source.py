"""A stack on a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cluster.client import Cluster
from cluster.connection import Connection
from cluster.errors import RefusedError
from cluster.failure import first_failure
from cluster.lookup import find
from cluster.masks import Masks
from cluster.seen import JobSeen
from cluster.together import together
from cluster.verdict import FAILED, state_of
from console.choice import TO_BE_MADE, NotFoundError, choose_job, choose_replica
from console.cluster.declared import Declared
from console.cluster.forward import Forward, listen, read_deployment
from console.cluster.log import ClusterLog
from console.cluster.look import Listed, Objects, job_look, jobs_seen
from console.cluster.progress import ProgressReader
from console.cluster.services import ABSENT, is_ready, service_look
from console.look import JobLook, Look, ServiceLook
from workloads.pods import MANAGED_BY
from workloads.tensorboard_spec import NAME as TENSORBOARD

_OPERATOR = "training-operator"
"""Name of upstream's Deployment."""


class ClusterSource:
    """What the API server of the stack's cluster says."""

    poll_seconds = 2.0

    def __init__(self, cluster: Cluster, declared: Declared) -> None:
        self._cluster = cluster
        self._declared = declared
        self._progress = ProgressReader(cluster, declared.namespace)
        self._masks = Masks(cluster, declared.namespace)

    @classmethod
    def opened(cls, declared: Declared, project: Path) -> ClusterSource:
        """ClusterError when the kubeconfig, or what it asks for, is not to be had."""
        given = {"kubeconfig": declared.kubeconfig, "context": declared.context}
        return cls(Connection.of(given, project).open(), declared)

    def look(self) -> Look:
        listed = self._listed()
        seen = jobs_seen(self._declared, listed)
        services = self._services(listed)
        self._progress.refresh(pod for job in seen for pod in job.pods)
        return Look(
            tuple(self._of(job) for job in seen),
            services,
            nodes=True,
        )

    def _of(self, job: JobSeen) -> JobLook:
        found = job_look(self._declared, job, self._progress.of)
        if not found.note:
            return found
        return replace(found, note=self._masks.plain(found.note, job.pods))

    def log(self, job: str | None, replica: str | None) -> ClusterLog:
        seen = {job.name: job for job in jobs_seen(self._declared, self._listed())}
        job = choose_job(list(seen), job)
        replicas = seen[job].wanted or list(self._declared.jobs[job])
        replica = choose_replica(job, replicas, replica or _to_be_read(seen[job]))
        if not seen[job].uid:
            raise NotFoundError(f"{job} is not in the cluster: {TO_BE_MADE}")
        return ClusterLog(self._cluster, self._declared.namespace, job, replica)

    def tensorboard(self, port: int | None) -> int:
        declared = self._declared
        board = declared.tensorboard
        if board is None:
            raise NotFoundError("the stack has no TensorBoard: tensorboard.enabled is false")
        way = Forward(self._cluster, declared.namespace, TENSORBOARD, board.port)
        way.choose()
        with listen(port) as server:
            print(f"http://127.0.0.1:{server.getsockname()[1]}{board.path}", flush=True)
            way.serve(server)
        return 0

    def _services(self, listed: Listed) -> tuple[ServiceLook, ...]:
        declared = self._declared
        questions = []
        if declared.tensorboard is not None:
            questions.append(lambda: self._service(TENSORBOARD, declared.namespace, listed))
        if declared.jobs:
            questions.append(lambda: self._service(_OPERATOR, declared.operator_namespace, None))
        found = together(questions)
        # Where another stack brings the operator, it may have any name.
        return tuple(
            service
            for service in found
            if declared.brings_operator or (service.name, service.state) != (_OPERATOR, ABSENT)
        )

    def _service(self, name: str, namespace: str, listed: Listed | None) -> ServiceLook:
        """`listed` is what the namespace holds, None where it was not listed yet."""
        try:
            deployment = read_deployment(self._cluster, namespace, name)
            if listed is None and deployment is not None and not is_ready(deployment):
                listed = Listed(pods=self._list(namespace, "pods"))
        except RefusedError as error:
            return ServiceLook(name, "unknown", str(error))
        listed = listed or Listed()
        return service_look(name, deployment, listed.pods, listed.events)

    def _listed(self) -> Listed:
        namespace = self._declared.namespace
        label, value = next(iter(MANAGED_BY.items()))
        jobs, pods, events = together(
            [
                lambda: list_jobs(self._cluster, namespace),
                lambda: self._list(namespace, "pods", labelSelector=f"{label}={value}"),
                lambda: self._list(namespace, "events"),
            ]
        )
        return Listed(jobs, pods, events)

    def _list(self, namespace: str, kind: str, **query: str) -> Objects:
        found: Objects = self._cluster.get(f"/api/v1/namespaces/{namespace}/{kind}", **query)[
            "items"
        ]
        return found


def list_jobs(cluster: Cluster, namespace: str) -> Objects:
    """The TFJobs of a namespace; none where the cluster knows no TFJobs."""
    listed = find(cluster, f"/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs")
    found: Objects = () if listed is None else listed["items"]
    return found


def _to_be_read(seen: JobSeen) -> str | None:
    """The replica that failed first, of a job that failed and where its log is still there; the
    chief's may be gone with its pod."""
    first = first_failure(seen) if state_of(seen) == FAILED else None
    return None if first is None or first.pod is None else first.replica
