"""Why a job failed: the operator's word, the replica that began it, and its last lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cluster.client import Cluster
from cluster.endings import PEER_LOST, ending, of_code
from cluster.errors import ClusterError
from cluster.observe import log_tail
from cluster.seen import CONTAINER, Ended, JobSeen, PodSeen
from cluster.verdict import Verdict

_LINES = 15
_EVENTS = 5
_RECENT_SECONDS = 600.0
"""Warnings that are older than this, counted from the newest, are of something else."""

_TOGETHER_SECONDS = 10.0
"""Failures within this time of the first belong together: a lost replica is noticed in seconds."""

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

    def read(pod: PodSeen, previous: bool) -> Sequence[str]:
        container = pod.main.name if pod.main else CONTAINER
        try:
            return log_tail(
                cluster, seen.namespace, pod.name, _LINES, container=container, previous=previous
            )
        except ClusterError:
            return []

    return compose(seen, verdict, read)


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
    events = [event for event in seen.events if event.warning]
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
    found = []
    for event in seen.events:
        if event.reason != "ExitedWithCode":
            continue
        told = re.search(
            rf"^Pod: {re.escape(seen.namespace)}\.{re.escape(seen.name)}-([a-z]+-\d+) "
            r"exited with code (\d+)$",
            event.message,
        )
        if told and int(told[2]) != 0 and told[1] not in known:
            code = int(told[2])
            found.append(Failed(told[1], of_code(code), event.last, code == PEER_LOST))
    return next((failed for failed in found if not failed.consequence), found[0] if found else None)
