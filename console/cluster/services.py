"""The API's objects → what the table shows of TensorBoard and the operator: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cluster.api_objects import event_seen, pod_seen, with_events
from cluster.pod_troubles import pod_trouble
from cluster.seen import JobSeen, PodSeen
from cluster.verdict import pod_state
from console.choice import TO_BE_MADE
from console.look import ServiceLook

READY, NOT_READY, ABSENT = "Ready", "not ready", "Absent"

Object = Mapping[str, Any]


def service_look(
    name: str, deployment: Object | None, pods: Iterable[Object], events: Iterable[Object]
) -> ServiceLook:
    """The service of `deployment`, None where there is none; of `pods` and `events` those that are
    not the service's are left out."""
    if deployment is None:
        return ServiceLook(name, ABSENT, TO_BE_MADE)
    if is_ready(deployment):
        return ServiceLook(name, READY)
    return ServiceLook(name, NOT_READY, why_not_ready(pods_of(deployment, pods, events)))


def is_ready(deployment: Object) -> bool:
    """Whether one of its pods answers."""
    return bool((deployment.get("status") or {}).get("readyReplicas"))


def pods_of(deployment: Object, pods: Iterable[Object], events: Iterable[Object]) -> list[PodSeen]:
    """The pods that the deployment selects, with their events."""
    wanted = deployment["spec"]["selector"].get("matchLabels", {}).items()
    seen = [event_seen(event) for event in events]
    return [
        with_events(pod_seen(pod), seen)
        for pod in pods
        if wanted <= (pod["metadata"].get("labels") or {}).items()
    ]


def ready_pod(pods: Iterable[PodSeen]) -> PodSeen | None:
    """One of the pods that answers."""
    for pod in pods:
        ready = pod.condition("Ready")
        if ready is not None and ready.holds and not pod.deleting:
            return pod
    return None


def why_not_ready(pods: Sequence[PodSeen]) -> str:
    """What keeps the first of the pods from answering, without the service's name."""
    staying = [pod for pod in pods if not pod.deleting]
    if not staying:
        return "it has no pod"
    pod = staying[0]
    trouble = pod_trouble(pod, JobSeen(pod.name, ""), autoscaled=False)
    if trouble is not None:
        return f"its pod {trouble.what}"
    state = pod_state(pod)
    return "its pod does not answer yet" if state == "Running" else f"its pod is {state}"
