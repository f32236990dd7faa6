"""Why a job failed: the operator's word, the replica that began it, and its last lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cluster.client import Cluster
from cluster.endings import PEER_LOST, ending, of_code, told_ends
from cluster.errors import ClusterError
from cluster.masks import Masks
from cluster.observe import log_tail
from cluster.seen import CONTAINER, ContainerSeen, Ended, JobSeen, PodSeen
from cluster.troubles import Trouble, told
from cluster.verdict import Verdict

_LINES = 15
_LONG_LINE = 200
_EVENTS = 5
_RECENT_SECONDS = 600.0
"""Warnings that are older than this, counted from the newest, are of something else."""

_TOGETHER_SECONDS = 10.0
"""Failures within this time of the first belong together: a lost replica is noticed in seconds."""

_UNTIL = {
    "place": "it starts when there is room, within its startTimeout",
    "operator": "it stays as it is",
    "crash": "it goes on like that",
}
"""What becomes of a job that is no longer waited for, by the kind of its trouble."""

ReadLog = Callable[[PodSeen, str, bool], Sequence[str]]
"""The last lines of a container of a pod, or of the process in it before the one that runs."""


@dataclass(frozen=True)
class Failed:
    """A replica that ended other than well. `pod` is None where its pod is gone."""

    replica: str
    words: str
    at: float
    consequence: bool
    pod: PodSeen | None = None
    container: str = CONTAINER
    previous: bool = False
    """Whether that process was followed by another in the same pod."""


def failure_text(
    cluster: Cluster, seen: JobSeen, verdict: Verdict, masks: Masks, *, stack: str
) -> str:
    """The text for a failed job of `stack`; what the cluster does not tell, and what nobody may
    see, is left out."""
    return masks.plain(
        compose(seen, verdict, _reader(cluster, seen, masks), stack=stack), seen.pods
    )


def failure_line(cluster: Cluster, seen: JobSeen, masks: Masks) -> str:
    """`chief-0, with exit code 1: no such file`, with the last line of its log; empty where nobody
    knows."""
    first = first_failure(seen)
    if first is None:
        return ""
    words = f"{first.replica}, with {first.words}"
    if first.pod is not None:
        lines = _reader(cluster, seen, masks)(first.pod, first.container, first.previous)
        last = next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "")
        words += f": {last}" if last else ""
    return _short(masks.plain(words, seen.pods))


def trouble_text(
    cluster: Cluster, seen: JobSeen, troubles: Sequence[Trouble], masks: Masks, *, stack: str
) -> str:
    """The text for a job of `stack` that these troubles keep where it is."""
    first = troubles[0]
    then = _UNTIL.get(first.kind, "its pods are tried again and again")
    lines = [f"{seen.name}: {told(troubles)}; {then}, and `pulumi up` waits for it again"]
    pod = seen.pod(first.about)
    if first.kind == "crash" and pod is not None:
        lines += [f"  {line}" for line in _reader(cluster, seen, masks)(pod, CONTAINER, True)]
        lines.append(_whole_log(stack, seen, pod.replica))
    return masks.plain("\n".join(lines), seen.pods)


def _reader(cluster: Cluster, seen: JobSeen, masks: Masks) -> ReadLog:
    def read(pod: PodSeen, container: str, previous: bool) -> Sequence[str]:
        if unread := masks.unread([pod]):
            # It would stay in the stack's state for good.
            which = f"Secret {', '.join(unread)} cannot be read, to hide what it holds"
            return [f"(not shown here: {which})"]
        try:
            return log_tail(
                cluster, seen.namespace, pod.name, _LINES, container=container, previous=previous
            )
        except ClusterError:
            return []

    return read


def _whole_log(stack: str, seen: JobSeen, replica: str) -> str:
    return f"whole log: make logs STACK={stack} JOB={seen.name} REPLICA={replica}"


def _short(text: str) -> str:
    return text if len(text) <= _LONG_LINE else f"{text[: _LONG_LINE - 1]}…"


def compose(seen: JobSeen, verdict: Verdict, read: ReadLog, *, stack: str) -> str:
    lines = [f"{seen.name} {verdict.state}: {verdict.message or 'the operator gives no reason'}"]
    first = first_failure(seen)
    shown: list[str] = []
    if first is not None:
        # Not always the role that the operator names: one that lost its peer fails as well.
        lines.append(f"the first to fail was {first.replica}, with {first.words}")
        if first.pod is not None:
            shown = [f"  {line}" for line in read(first.pod, first.container, first.previous)]
        lines += shown or [
            "  (its log is gone with its pod)" if first.pod is None else "  (no log)"
        ]
    decider = seen.pod(seen.decider)
    if decider is not None and (first is None or decider.replica != first.replica):
        last = [f"  {line}" for line in read(decider, CONTAINER, False)]
        if last:
            lines += [f"the last lines of {decider.replica}:", *last]
    lines += [f"warning: {text}" for text in warnings(seen)]
    named = first.replica if first is not None else seen.decider
    if named and seen.pod(named) is not None:
        lines.append(_whole_log(stack, seen, named))
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
    # What the operator says of the job's state and of its pods stands above already.
    events = [
        event
        for event in seen.events
        if event.warning
        and not event.reason.startswith("TFJob")
        and not event.message.startswith("Error pod ")
    ]
    events += [event for pod in seen.pods for event in pod.events if event.warning]
    if not events:
        return []
    events.sort(key=lambda event: event.last)
    recent = [e for e in events if events[-1].last - e.last <= _RECENT_SECONDS]
    texts = [f"{event.reason}: {event.message}" for event in recent if event.message]
    # The last of equal ones keeps its place.
    return list(dict.fromkeys(reversed(texts)))[:_EVENTS][::-1]


def _failures(pod: PodSeen) -> list[Failed]:
    """The newest end other than 0 of a process of the pod, as a list of one or none."""
    ends: list[tuple[ContainerSeen, Ended, bool]] = []
    for container in (*pod.init, *pod.containers):
        ends += [(container, container.ended, False)] if container.ended else []
        ends += [(container, container.ended_before, True)] if container.ended_before else []
    bad = [found for found in ends if found[1].exit_code != 0]
    if bad:
        container, end, previous = max(bad, key=lambda found: found[1].finished)
        where = "" if container.name == CONTAINER else f" of its container {container.name}"
        words = f"{ending(pod, end, container)}{where}"
        lost = end.exit_code == PEER_LOST
        return [Failed(pod.replica, words, end.finished, lost, pod, container.name, previous)]
    if pod.phase == "Failed":
        # Evicted, or refused by its node, before it had a process that anyone saw end.
        told = pod.condition("DisruptionTarget") or pod.condition("Ready")
        at = told.since if told else 0.0
        return [Failed(pod.replica, ending(pod, None, None), at, False, pod)]
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
