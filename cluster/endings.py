"""How a replica ended, in words."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

from cluster import messages
from cluster.seen import ContainerSeen, Ended, JobSeen, PodSeen

PEER_LOST = 138
"""Exit code of a replica that lost another one: a consequence of that one's end."""

_OFTEN_OUT_OF_MEMORY = 137

_MANY = 128
"""Exit codes above it are of a process that a signal ended, or that says so."""


def ending(pod: PodSeen, end: Ended | None, container: ContainerSeen | None) -> str:
    """`exit code 137 (OOMKilled; memory limit 2Gi)`: to follow "with" or the replica's name."""
    words = _cause(pod, end, container)
    code = "no exit code" if end is None else f"exit code {end.exit_code}"
    return f"{code} ({words})" if words else code


def of_code(code: int) -> str:
    """`exit code 138 (it lost another replica)`, of a code alone."""
    words = _meaning(code)
    return f"exit code {code}{f' ({words})' if words else ''}"


def told_ends(seen: JobSeen) -> Iterator[tuple[str, int, float]]:
    """Replica, exit code and time of each end that the operator told, the oldest first. It tells
    also of those whose pods it then deleted."""
    pattern = re.compile(
        rf"Pod: {re.escape(seen.namespace)}\.{re.escape(seen.name)}-([a-z]+-\d+) "
        r"exited with code (\d+)"
    )
    for event in seen.events:
        told = pattern.fullmatch(event.message) if event.reason == "ExitedWithCode" else None
        if told:
            yield told[1], int(told[2]), event.last


def _cause(pod: PodSeen, end: Ended | None, container: ContainerSeen | None) -> str:
    if end is not None and end.reason == "OOMKilled":
        limit = container.memory_limit if container else ""
        return f"OOMKilled; memory limit {limit}" if limit else "OOMKilled; it has no memory limit"
    if end is not None and end.reason in ("StartError", "ContainerCannotRun"):
        return f"{end.reason}: {messages.of_kubelet(end.message)}"
    if pod.reason:
        # Evicted, NodeLost, Preempting, Terminated, OutOfcpu, UnexpectedAdmissionError and others.
        message = pod.message.rstrip(". ")
        return f"{pod.reason}: {message}" if message else pod.reason
    disrupted = pod.condition("DisruptionTarget")
    if disrupted is not None and disrupted.holds:
        message = disrupted.message.rstrip(". ")
        return f"{disrupted.reason}: {message}" if message else disrupted.reason
    if end is not None and end.reason == "ContainerStatusUnknown":
        return "its node lost sight of it"
    return "" if end is None else _meaning(end.exit_code)


def _meaning(code: int) -> str:
    if code == PEER_LOST:
        return "it lost another replica"
    if code == _OFTEN_OUT_OF_MEMORY:
        return "killed by SIGKILL, often out of memory"
    if code <= _MANY:
        return ""
    try:
        return f"killed by {signal.Signals(code - _MANY).name}"
    except ValueError:
        return ""
