"""Why a job failed: the operator's word, the replica that began it, and its last lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cluster.client import Cluster
from cluster.endings import PEER_LOST, ending, of_code, told_ends
from cluster.errors import ClusterError
from cluster.observe import log_tail
from cluster.seen import CONTAINER, Ended, JobSeen, PodSeen
from cluster.troubles import Trouble, told
from cluster.verdict import Verdict

_LINES = 15
_EVENTS = 5
_RECENT_SECONDS = 600.0
"""Warnings that are older than this, counted from the newest, are of something else."""

_TOGETHER_SECONDS = 10.0
"""Failures within this time of the first belong together: a lost replica is noticed in seconds."""

_UNTIL = {
    "place": "it starts as soon as there is room",
    "operator": "it stays as it is",
    "crash": "it goes on like that",
}
"""What becomes of a job that is no longer waited for, by the kind of its trouble."""

ReadLog = Callable[[PodSeen, bool], Sequence[str]]
"""The last lines of a pod's replica, or of the process before the one that runs."""


@dataclass(frozen=True)
class Failed:
    """A replica that ended other than well. `pod` is None where its pod is gone."""

    replica: str
    words: str
    at: float
    consequence: bool
    pod: PodSeen | None = None
    previous: bool = False
    """Whether that process was followed by another in the same pod."""


def failure_text(cluster: Cluster, seen: JobSeen, verdict: Verdict) -> str:
    """The text for a failed job; what the cluster does not tell is left out."""
    return compose(seen, verdict, _reader(cluster, seen))


def trouble_text(cluster: Cluster, seen: JobSeen, troubles: Sequence[Trouble]) -> str:
    """The text for a job that these troubles keep where it is."""
    first = troubles[0]
    then = _UNTIL.get(first.kind, "its pods are tried again and again")
    lines = [f"{seen.name}: {told(troubles)}; {then}, and `pulumi up` waits for it again"]
    pod = seen.pod(first.about)
    if first.kind == "crash" and pod is not None:
        lines += [f"  {line}" for line in _reader(cluster, seen)(pod, True)]
        lines.append(f"whole log: make logs JOB={seen.name} REPLICA={pod.replica}")
    return "\n".join(lines)


def _reader(cluster: Cluster, seen: JobSeen) -> ReadLog:
    def read(pod: PodSeen, previous: bool) -> Sequence[str]:
        container = pod.main.name if pod.main else CONTAINER
        try:
            return log_tail(
                cluster, seen.namespace, pod.name, _LINES, container=container, previous=previous
            )
        except ClusterError:
            return []

    return read


def compose(seen: JobSeen, verdict: Verdict, read: ReadLog) -> str:
    lines = [f"{seen.name} {verdict.state}: {verdict.message or 'the operator gives no reason'}"]
    first = first_failure(seen)
    shown: list[str] = []
    if first is not None:
        # Not always the role that the operator names: one that lost its peer fails as well.
        lines.append(f"the first to fail was {first.replica}, with {first.words}")
        if first.pod is not None:
            shown = [f"  {line}" for line in read(first.pod, first.previous)]
        lines += shown or [
            "  (its log is gone with its pod)" if first.pod is None else "  (no log)"
        ]
    decider = seen.pod(seen.decider)
    if decider is not None and (first is None or decider.replica != first.replica):
        last = [f"  {line}" for line in read(decider, False)]
        if last:
            lines += [f"the last lines of {decider.replica}:", *last]
    lines += [f"warning: {text}" for text in warnings(seen)]
    named = first.replica if first is not None else seen.decider
    if named and seen.pod(named) is not None:
        lines.append(f"whole log: make logs JOB={seen.name} REPLICA={named}")
    return "\n".join(lines)


def first_failure(seen: JobSeen) -> Failed | None:
    """The replica whose end began it; None when none is known to have failed.

    Of the pods that are there it is the one that ended first, and not of the loss of another. Where
    they are gone, the operator's events tell the codes.
    """
    found = sorted(
        (failed for pod in seen.pods for failed in _failures(pod)), key=lambda failed: failed.at
    )
    gone = _from_events(seen, {failed.replica for failed in found})
    if not found:
        return gone
    near = [failed for failed in found if failed.at - found[0].at <= _TOGETHER_SECONDS]
    first = next((failed for failed in near if not failed.consequence), found[0])
    return gone if first.consequence and gone is not None and not gone.consequence else first


def warnings(seen: JobSeen) -> list[str]:
    """The newest warnings of the job and of its pods, each once, the oldest first."""
    # The operator's own account of the job's state is the first line already.
    events = [e for e in seen.events if e.warning and not e.reason.startswith("TFJob")]
    events += [event for pod in seen.pods for event in pod.events if event.warning]
    if not events:
        return []
    events.sort(key=lambda event: event.last)
    recent = [e for e in events if events[-1].last - e.last <= _RECENT_SECONDS]
    texts = [f"{event.reason}: {event.message}" for event in recent if event.message]
    # The last of equal ones keeps its place.
    return list(dict.fromkeys(reversed(texts)))[:_EVENTS][::-1]


def _failures(pod: PodSeen) -> list[Failed]:
    container = pod.main or next(iter(pod.containers), None)
    ends: list[tuple[Ended, bool]] = []
    if container is not None:
        ends += [(container.ended, False)] if container.ended else []
        ends += [(container.ended_before, True)] if container.ended_before else []
    for end, previous in ends:
        if end.exit_code != 0:
            words = ending(pod, end, container)
            consequence = end.exit_code == PEER_LOST
            return [Failed(pod.replica, words, end.finished, consequence, pod, previous)]
    if pod.phase == "Failed" and not ends:
        # Evicted or refused by its node before it had a process that anyone saw end.
        ready = pod.condition("DisruptionTarget") or pod.condition("Ready")
        return [
            Failed(pod.replica, ending(pod, None, None), ready.since if ready else 0.0, False, pod)
        ]
    return []


def _from_events(seen: JobSeen, known: set[str]) -> Failed | None:
    """The first end other than 0 that the operator told of a replica without a failed pod: with
    restartPolicy ExitCode it deletes the pod, and its log with it."""
    found = [
        Failed(replica, of_code(code), at, code == PEER_LOST)
        for replica, code, at in told_ends(seen)
        if code != 0 and replica not in known
    ]
    return next((failed for failed in found if not failed.consequence), found[0] if found else None)
