"""Finds and kills the processes of one state directory by the marker in their environment.

Every process started for a state directory inherits `ACK_TRAINING_SUPERVISED=<state_directory>`
(and replicas `ACK_TRAINING_REPLICA=<name>`), which /proc/<pid>/environ shows whoever adopted the
process and whatever became of its parents. The supervisor itself has the first only. Without
/proc only process groups can be killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection

MARKER = "ACK_TRAINING_SUPERVISED"
REPLICA = "ACK_TRAINING_REPLICA"
HAVE_PROC = os.path.exists("/proc/self/environ")


def marked(state_directory: str, replica: str | None = None) -> set[int]:
    """Live processes of this user with the marker and, when given, of that replica."""
    wanted = {os.fsencode(f"{MARKER}={state_directory}")}
    if replica is not None:
        wanted.add(os.fsencode(f"{REPLICA}={replica}"))
    return {pid for pid in _processes() if wanted <= _environment(pid)}


def marked_replicas(state_directory: str) -> set[int]:
    """Live processes of any replica: not a supervisor, its guardian, or one that is starting."""
    prefix = os.fsencode(f"{REPLICA}=")
    return {
        pid
        for pid in marked(state_directory)
        if any(entry.startswith(prefix) for entry in _environment(pid))
    }


def state_directories() -> set[str]:
    """The state directories of which a process of this user is alive."""
    prefix = os.fsencode(f"{MARKER}=")
    return {
        os.fsdecode(entry.removeprefix(prefix))
        for pid in _processes()
        for entry in _environment(pid)
        if entry.startswith(prefix)
    }


def is_marked(pid: int, state_directory: str) -> bool:
    """Whether that process is ours, so that a recycled pid is never signalled.

    Without /proc this cannot be known and is taken for granted.
    """
    if not HAVE_PROC:
        return True
    return os.fsencode(f"{MARKER}={state_directory}") in _environment(pid)


def children_of(parent: int) -> set[int]:
    """The live children of a process, adopted ones included."""
    return {pid for pid in _processes() if _parent(pid) == parent}


def kill_all(
    find: Callable[[], set[int]],
    spare: Collection[int] = (),
    seconds: float = 10.0,
    reap: Callable[[], None] | None = None,
) -> set[int]:
    """Kills what `find` gives until it gives nothing twice in a row; returns what is left.

    Twice, because a process that is just executing a program shows no environment for a moment.
    What is left after so many seconds cannot be killed (it waits for a dead disk, say).
    """
    deadline = time.monotonic() + seconds
    empty = 0
    while True:
        found = find() - set(spare) - {os.getpid()}
        for pid in found:
            send(pid, signal.SIGKILL)
        if reap is not None:
            reap()
        empty = 0 if found else empty + 1
        if empty == 2 or time.monotonic() > deadline:
            return found
        time.sleep(0.002 if empty else 0.01)


def send(pid: int, number: int) -> None:
    """Signals a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def send_group(pid: int, number: int) -> None:
    """Signals a process group that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _processes() -> list[int]:
    try:
        return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return []


def _environment(pid: int) -> set[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return set(file.read().split(b"\0"))
    except OSError:
        return set()


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may hold spaces and parentheses itself.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] == b"Z" else int(fields[1])
