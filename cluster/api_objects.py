"""The API's JSON → what was seen of a job: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from cluster.seen import GENERATION, Condition, ContainerSeen, Ended, EventSeen, JobSeen, PodSeen

JOB_LABEL = "training.kubeflow.org/job-name"
_ROLE_LABEL = "training.kubeflow.org/replica-type"
_INDEX_LABEL = "training.kubeflow.org/replica-index"

_ROLES = ("chief", "master", "worker", "ps", "evaluator")
"""The order in which replicas are listed everywhere. A TFJob may call its chief master."""


def job_seen(
    job: Mapping[str, Any], pods: Iterable[PodSeen], events: Iterable[EventSeen]
) -> JobSeen:
    """The TFJob of `job`, the API's object; `events` may be those of its namesakes too."""
    metadata, spec = job["metadata"], job.get("spec") or {}
    policy = spec.get("runPolicy") or {}
    sizes = {
        str(kind).lower(): size or {} for kind, size in (spec.get("tfReplicaSpecs") or {}).items()
    }
    roles = sorted(sizes, key=lambda role: (_order(role), role))
    return JobSeen(
        name=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
        created=seconds(metadata.get("creationTimestamp")),
        deleting="deletionTimestamp" in metadata,
        suspend=bool(policy.get("suspend")),
        generation=_generation(job),
        managed_by=policy.get("managedBy") or "",
        backoff_limit=policy.get("backoffLimit"),
        success_policy=spec.get("successPolicy") or "",
        replicas=tuple((role, _count(sizes[role])) for role in roles),
        # The operator's default, which it does not write into the object.
        policies=tuple((role, sizes[role].get("restartPolicy") or "Never") for role in roles),
        templates=tuple((role, _generation(sizes[role].get("template") or {})) for role in roles),
        conditions=_conditions(job.get("status") or {}),
        pods=tuple(sorted(pods, key=_place)),
        events=_own(metadata["uid"], events),
    )


def pod_seen(pod: Mapping[str, Any]) -> PodSeen:
    """The pod of `pod`, the API's object."""
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    labels = metadata.get("labels") or {}
    return PodSeen(
        name=metadata["name"],
        uid=metadata["uid"],
        replica=f"{labels.get(_ROLE_LABEL, 'pod')}-{labels.get(_INDEX_LABEL, '0')}",
        phase=status.get("phase") or "Pending",
        reason=status.get("reason") or "",
        message=status.get("message") or "",
        node=spec.get("nodeName") or "",
        scheduler=spec.get("schedulerName") or "",
        deleting="deletionTimestamp" in metadata,
        generation=_generation(pod),
        conditions=_conditions(status),
        init=_containers(spec, status, "initContainers", "initContainerStatuses"),
        containers=_containers(spec, status, "containers", "containerStatuses"),
        secrets=tuple(dict.fromkeys(_secrets(spec))),
    )


def with_events(pod: PodSeen, events: Sequence[EventSeen]) -> PodSeen:
    """The pod with those of the events that are its own, and those of its namesakes before it."""
    named = [event for event in events if event.name == pod.name and event.uid != pod.uid]
    return replace(
        pod,
        events=_own(pod.uid, events),
        before=tuple(sorted(named, key=lambda event: event.last)),
    )


def event_seen(event: Mapping[str, Any]) -> EventSeen:
    """The event of `event`, the API's object of either of its two kinds."""
    series = event.get("series") or {}
    times = (
        series.get("lastObservedTime"),
        event.get("lastTimestamp"),
        event.get("eventTime"),
        (event.get("metadata") or {}).get("creationTimestamp"),
    )
    return EventSeen(
        uid=(event.get("involvedObject") or {}).get("uid") or "",
        reason=event.get("reason") or "",
        message=" ".join((event.get("message") or "").split()),
        warning=event.get("type") == "Warning",
        last=next((seconds(time) for time in times if time), 0.0),
        count=series.get("count") or event.get("count") or 1,
        name=(event.get("involvedObject") or {}).get("name") or "",
    )


def seconds(time: str | None) -> float:
    """Unix seconds of a time as the API writes it; 0 for none."""
    if not time:
        return 0.0
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def _own(uid: str, events: Iterable[EventSeen]) -> tuple[EventSeen, ...]:
    return tuple(sorted((e for e in events if e.uid == uid), key=lambda event: event.last))


def _order(role: str) -> int:
    return _ROLES.index(role) if role in _ROLES else len(_ROLES)


def _place(pod: PodSeen) -> tuple[int, str, int]:
    index = pod.replica.rpartition("-")[2]
    return _order(pod.role), pod.role, int(index) if index.isdigit() else 0


def _generation(of: Mapping[str, Any]) -> str:
    found = ((of.get("metadata") or {}).get("annotations") or {}).get(GENERATION)
    return str(found or "")


def _count(size: Mapping[str, Any]) -> int:
    replicas = size.get("replicas")
    return 1 if replicas is None else int(replicas)


def _conditions(status: Mapping[str, Any]) -> tuple[Condition, ...]:
    return tuple(
        Condition(
            type=found.get("type") or "",
            holds=found.get("status") == "True",
            reason=found.get("reason") or "",
            message=" ".join((found.get("message") or "").split()),
            since=seconds(found.get("lastTransitionTime")),
        )
        for found in status.get("conditions") or []
    )


def _secrets(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        for variable in container.get("env") or []:
            reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if reference:
                yield reference["name"], reference["key"]
        for source in container.get("envFrom") or []:
            if source.get("secretRef"):
                yield source["secretRef"]["name"], ""


def _containers(
    spec: Mapping[str, Any], status: Mapping[str, Any], declared: str, told: str
) -> tuple[ContainerSeen, ...]:
    limits = {
        found["name"]: ((found.get("resources") or {}).get("limits") or {}).get("memory", "")
        for found in spec.get(declared) or []
    }
    return tuple(_container(found, limits) for found in status.get(told) or [])


def _container(found: Mapping[str, Any], limits: Mapping[str, str]) -> ContainerSeen:
    state = found.get("state") or {}
    waiting = state.get("waiting") or {}
    return ContainerSeen(
        name=found["name"],
        image=found.get("image") or "",
        waiting=waiting.get("reason") or ("Waiting" if "waiting" in state else ""),
        waiting_message=" ".join((waiting.get("message") or "").split()),
        running="running" in state,
        ended=_end(state),
        ended_before=_end(found.get("lastState") or {}),
        restarts=found.get("restartCount") or 0,
        memory_limit=limits.get(found["name"], ""),
    )


def _end(state: Mapping[str, Any]) -> Ended | None:
    found = state.get("terminated")
    if not found:
        return None
    return Ended(
        exit_code=found.get("exitCode", -1),
        reason=found.get("reason") or "",
        message=" ".join((found.get("message") or "").split()),
        finished=seconds(found.get("finishedAt")),
    )
