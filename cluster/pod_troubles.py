"""What keeps a pod from running, by the words of the scheduler, the kubelet and the autoscalers.

The reasons are those of Kubernetes 1.34: pkg/kubelet/images/types.go, pkg/kubelet/container/
sync_result.go, pkg/kubelet/kuberuntime/kuberuntime_container.go, pkg/kubelet/events/event.go.
"""

from __future__ import annotations

from cluster import messages
from cluster.endings import ending
from cluster.seen import ContainerSeen, EventSeen, JobSeen, PodSeen
from cluster.troubles import Trouble

_ROOM_SECONDS = 15.0
"""What was replaced a moment ago may still hold its place while it ends."""

_AUTOSCALER_NO_SECONDS = 60.0
"""An autoscaler that refuses may have another pool to try; it looks every 10 s or so."""

_VOLUME_SECONDS = 90.0
"""A volume that is made on demand, or moves from another node, takes up to a minute."""

_SCHEDULER_SECONDS = 30.0
"""A scheduler looks at each pod in well under a second, but for one that has a leader to choose."""

_IMAGE_SECONDS = 45.0
"""The kubelet pulls at once, 10 s and 30 s later: a network that came back is found by then."""

_NO_SUCH_IMAGE_SECONDS = 5.0
"""The registry's word is final; the grace is for an image that is pushed at this moment."""

_CONFIG_SECONDS = 10.0
"""The kubelet may not have heard yet of a Secret or ConfigMap that was made a moment ago."""

_CACHE_SECONDS = 60.0
"""The kubelet's own waiting for the API server, which it gives up and begins again."""

_START_SECONDS = 5.0
"""What cannot be executed cannot be executed a second time."""

_SANDBOX_SECONDS = 60.0
"""A network plugin that comes up with its node takes a while."""

_CRASHES = 3
"""Restarts of a container, after 10, 20 and 40 s, after which the next one will fail as well."""

_GROWING = ("TriggeredScaleUp", "ProvisionNode", "ResetPod", "Nominated")
_NOT_GROWING = ("NotTriggerScaleUp", "FailedScaleUp", "ProvisionNodeFailed")
"""Events of the cluster autoscaler, of ACK's node instant scaling, and of Karpenter."""

_IMAGE = ("ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable")
_NO_IMAGE = ("InvalidImageName", "ErrImageNeverPull", "SignatureValidationFailed")
_CONFIG = ("CreateContainerConfigError",)
_START = (
    "CreateContainerError",
    "RunContainerError",
    "PreCreateHookError",
    "PreStartHookError",
    "PostStartHookError",
)
_CANNOT_START = ("StartError", "ContainerCannotRun")
"""Reasons of a container that has ended without ever having run."""

_MOUNT = ("FailedMount", "FailedAttachVolume", "FailedMapVolume")
_SANDBOX = ("FailedCreatePodSandBox", "NetworkNotReady", "FailedPrepareDynamicResources")


def pod_trouble(pod: PodSeen, job: JobSeen, *, autoscaled: bool) -> Trouble | None:
    """What keeps this pod of an unfinished job from running; None when nothing does."""
    if pod.deleting:
        return _lost(pod) if pod.reason == "NodeLost" else None
    if pod.phase == "Failed":
        return _never_ran(pod)
    if pod.phase not in ("Pending", "Running"):
        return None
    if not pod.node:
        return _unplaced(pod, autoscaled)
    for container in (*pod.init, *pod.containers):
        found = _of_container(pod, container, job)
        if found is not None:
            return found
    return _before_containers(pod) or _started_in_vain(pod, job)


def _unplaced(pod: PodSeen, autoscaled: bool) -> Trouble | None:
    scheduled = pod.condition("PodScheduled")
    if scheduled is None:
        what = f"is not looked at by its scheduler, {pod.scheduler or 'default-scheduler'}"
        return Trouble("scheduler", pod.replica, what, _SCHEDULER_SECONDS)
    if scheduled.holds or scheduled.reason == "SchedulingGated":
        # What gates it, such as a queue, will say when.
        return None
    what = f"cannot be placed on a node: {messages.of_scheduler(scheduled.message)}"
    if messages.is_about_volume(scheduled.message):
        missing = messages.is_missing_claim(scheduled.message)
        return Trouble("volume", pod.replica, what, _ROOM_SECONDS if missing else _VOLUME_SECONDS)
    if scheduled.reason != "Unschedulable":
        return Trouble("place", pod.replica, what, _SCHEDULER_SECONDS)
    word = _autoscalers_word(pod)
    if word is None:
        return Trouble("place", pod.replica, what, None if autoscaled else _ROOM_SECONDS)
    if word.reason in _GROWING:
        return Trouble("place", pod.replica, f"waits for a new node: {word.message}", None)
    what = f"{what}; the autoscaler adds no node: {messages.of_autoscaler(word.message)}"
    return Trouble("place", pod.replica, what, _AUTOSCALER_NO_SECONDS)


def _autoscalers_word(pod: PodSeen) -> EventSeen | None:
    said = [event for event in pod.events if event.reason in _GROWING + _NOT_GROWING]
    return said[-1] if said else None


def _of_container(pod: PodSeen, container: ContainerSeen, job: JobSeen) -> Trouble | None:
    name, reason = pod.replica, container.waiting
    message = messages.of_kubelet(container.waiting_message)
    if reason in _IMAGE + _NO_IMAGE:
        return _no_image(pod, container)
    if reason in _CONFIG:
        slow = messages.is_cache(message)
        grace = _CACHE_SECONDS if slow else _CONFIG_SECONDS
        return Trouble("config", name, f"cannot be configured: {message}", grace)
    if reason in _START:
        grace = _SANDBOX_SECONDS if messages.is_slowness(message) else _START_SECONDS
        return Trouble("start", name, f"cannot be started: {message or reason}", grace)
    if reason == "CrashLoopBackOff":
        return _crashes(pod, container, job)
    if container.ended is not None and container.ended.reason in _CANNOT_START:
        # For a moment, before the kubelet calls it waiting.
        what = f"cannot be started: {messages.of_kubelet(container.ended.message)}"
        return Trouble("start", name, what, _START_SECONDS)
    return None


def _no_image(pod: PodSeen, container: ContainerSeen) -> Trouble:
    message = messages.of_registry(container.waiting_message)
    if not message:
        # Kubelets before 1.31 back off without a reason, which their event still has.
        failed = [e.message for e in pod.events if e.reason == "Failed" and "pull" in e.message]
        message = messages.of_registry(failed[-1]) if failed else container.waiting
    final = container.waiting in _NO_IMAGE or messages.is_final_of_registry(message)
    grace = _NO_SUCH_IMAGE_SECONDS if final else _IMAGE_SECONDS
    what = f"cannot have its image {container.image}: {message}"
    return Trouble("image", pod.replica, what, grace)


def _crashes(pod: PodSeen, container: ContainerSeen, job: JobSeen) -> Trouble | None:
    end = container.ended_before
    if end is None:
        return None
    if end.reason in _CANNOT_START:
        what = f"cannot be started: {messages.of_kubelet(end.message)}"
        return Trouble("start", pod.replica, what, _START_SECONDS)
    times = f"{container.restarts + 1} times"
    what = (
        f"has ended {times}, the last time with {ending(pod, end, container)}, and is started "
        f"again and again (restartPolicy {job.policy(pod.role)})"
    )
    # With a limit the operator decides; a code of 128 or more is the loss of another replica, or
    # a signal, after which the next start may well go right.
    undecided = job.backoff_limit is not None or end.exit_code >= 128
    if undecided or container.restarts < _CRASHES:
        return Trouble("crash", pod.replica, what, None)
    return Trouble("crash", pod.replica, what, 0.0)


def _never_ran(pod: PodSeen) -> Trouble | None:
    """A command that is not there ends with 128, and codes from 128 up are retried for ever by
    restartPolicy ExitCode."""
    for container in (*pod.init, *pod.containers):
        if container.ended is not None and container.ended.reason in _CANNOT_START:
            what = f"cannot be started: {messages.of_kubelet(container.ended.message)}"
            return Trouble("start", pod.replica, what, 0.0)
    return None


def _started_in_vain(pod: PodSeen, job: JobSeen) -> Trouble | None:
    """The operator deletes such a pod within the second, and creates it anew: what is seen is one
    that is about to start, and the events of those before it."""
    if any(container.running or container.ended for container in pod.containers):
        return None
    failed = [
        event
        for event in pod.before
        if event.reason == "Failed" and messages.is_start(event.message)
    ]
    # A pod of the TFJob before this one may have had another command.
    if not failed or failed[-1].last < job.created:
        return None
    what = f"cannot be started: {messages.of_kubelet(failed[-1].message)}"
    return Trouble("start", pod.replica, what, 0.0)


def _before_containers(pod: PodSeen) -> Trouble | None:
    """Of a pod that has a node and no process yet: what its newest warning says."""
    if any(container.running or container.ended for container in (*pod.init, *pod.containers)):
        return None
    warnings = [event for event in pod.events if event.reason in _MOUNT + _SANDBOX]
    if not warnings:
        return None
    newest = warnings[-1]
    if newest.reason in _SANDBOX:
        what = f"gets no network or devices: {messages.of_kubelet(newest.message)}"
        return Trouble("sandbox", pod.replica, what, _SANDBOX_SECONDS)
    # A later message may only say that it timed out waiting for the volume.
    said = next((e for e in reversed(warnings) if "timed out waiting" not in e.message), newest)
    final = messages.is_final_of_mount(said.message)
    what = f"cannot mount its volumes: {messages.of_kubelet(said.message)}"
    return Trouble("mount", pod.replica, what, _CONFIG_SECONDS if final else _VOLUME_SECONDS)


def _lost(pod: PodSeen) -> Trouble:
    return Trouble("node", pod.replica, f"is lost: its node {pod.node} does not answer", None)
