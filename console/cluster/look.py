"""The API's objects → what the table shows of a stack's jobs: pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cluster.api_objects import JOB_LABEL, event_seen, job_seen, pod_seen, with_events
from cluster.failure import first_failure
from cluster.ownership import LABEL
from cluster.seen import EventSeen, JobSeen, PodSeen
from cluster.troubles import told
from cluster.verdict import FAILED, FINISHED, Verdict, judge, pod_state
from console.choice import TO_BE_MADE
from console.cluster.declared import Declared
from console.look import JobLook, ReplicaLook
from supervisor.job_progress import JobProgress

Objects = Sequence[Mapping[str, Any]]
ProgressOf = Callable[[PodSeen], JobProgress | None]
"""How far the replica of a pod is, by its log."""


@dataclass(frozen=True)
class Listed:
    """What the API server listed of a namespace."""

    jobs: Objects = ()
    pods: Objects = ()
    events: Objects = ()


def jobs_seen(declared: Declared, listed: Listed) -> list[JobSeen]:
    """The stack's jobs: those of its file, then those that it made before and are still there.

    A job of the file without a TFJob has no `uid`.
    """
    events = [event_seen(event) for event in listed.events]
    pods: dict[str, list[PodSeen]] = {}
    for pod in listed.pods:
        job = (pod["metadata"].get("labels") or {}).get(JOB_LABEL)
        if job:
            pods.setdefault(job, []).append(with_events(pod_seen(pod), events))
    found = {
        job["metadata"]["name"]: job_seen(job, pods.get(job["metadata"]["name"], ()), events)
        for job in listed.jobs
        if _is_own(declared, job)
    }
    names = dict.fromkeys([*declared.jobs, *sorted(found)])
    return [found.get(name) or JobSeen(name, declared.namespace) for name in names]


def job_look(declared: Declared, seen: JobSeen, progress_of: ProgressOf) -> JobLook:
    """A job's part of the table."""
    verdict = judge(seen, operator_namespace=declared.operator_namespace)
    found = {pod.replica: progress_of(pod) for pod in seen.pods if not pod.deleting}
    progress = found.get(seen.decider)
    replicas = [
        ReplicaLook(
            name,
            _state(seen.pod(name), verdict),
            _restarts(seen, name),
            _of_as_many(found.get(name), progress),
            _node(seen.pod(name)),
        )
        for name in seen.wanted
    ]
    state = "Terminating" if seen.deleting else verdict.state
    return JobLook(seen.name, state, _note(declared, seen, verdict), tuple(replicas), progress)


def _is_own(declared: Declared, job: Mapping[str, Any]) -> bool:
    metadata = job["metadata"]
    label = (metadata.get("labels") or {}).get(LABEL)
    return declared.owns(label) if label else metadata["name"] in declared.jobs


def _note(declared: Declared, seen: JobSeen, verdict: Verdict) -> str:
    if seen.deleting:
        return ""
    if not seen.uid:
        return TO_BE_MADE
    if verdict.troubles:
        return told(verdict.troubles)
    if verdict.state == FAILED:
        first = first_failure(seen)
        message = verdict.message or "the operator gives no reason"
        return message if first is None else f"{first.replica} failed first, with {first.words}"
    if seen.name not in declared.jobs:
        return "no longer in the stack's file: `pulumi up` deletes it"
    return verdict.message if verdict.state == "Restarting" else ""


def _state(pod: PodSeen | None, verdict: Verdict) -> str:
    return "gone" if pod is None and verdict.state in FINISHED else pod_state(pod)


def _restarts(seen: JobSeen, replica: str) -> int:
    """In its pod, and by another pod in its place: as far back as the cluster keeps events."""
    pod = seen.pod(replica)
    in_place = sum(container.restarts for container in pod.containers) if pod else 0
    return in_place + max(sum(_creations(seen.events, f"{seen.name}-{replica}")) - 1, 0)


def _creations(events: Iterable[EventSeen], pod: str) -> Iterator[int]:
    pattern = re.compile(rf"Created pod: {re.escape(pod)}")
    for event in events:
        if event.reason == "SuccessfulCreatePod" and pattern.fullmatch(event.message):
            yield event.count


def _of_as_many(progress: JobProgress | None, of_job: JobProgress | None) -> JobProgress | None:
    """An evaluator tells the steps it has seen, and not how many there will be."""
    if progress is None or progress.steps or of_job is None:
        return progress
    return replace(progress, steps=of_job.steps)


def _node(pod: PodSeen | None) -> str:
    return pod.node if pod else ""
