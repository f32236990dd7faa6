"""Finds and ends the processes of a cluster."""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.cluster.place import Place
from toolchain.report import Stop

MODULE = "toolchain.cluster.node"
_GONE_SECONDS = 60.0


@dataclass(frozen=True)
class First:
    """A process of those that start a node: its first one, or the one that made its namespaces and
    waits for it. `folder` is that of its Place, which of two users' clusters of one number tells
    whose it is."""

    pid: int
    instance: int
    folder: Path


def node_command(python: str, place: Place) -> list[str]:
    """How a node's first process is started; `running_nodes` finds it by that."""
    return [python, "-m", MODULE, str(place.instance), str(place.folder)]


def running_nodes() -> list[First]:
    """Of all clusters on this machine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended meanwhile
        if arguments[-5:-3] == ["-m", MODULE] and arguments[-3].isdecimal():
            found.append(First(int(folder.name), int(arguments[-3]), Path(arguments[-2])))
    return found


def first_processes(place: Place) -> list[int]:
    """The node's first process, and the one that waits for it."""
    return [first.pid for first in running_nodes() if first.folder == place.folder]


def node_process(place: Place) -> int:
    """The node's first process, in whose namespaces the cluster is. Raises Stop without one."""
    pid = (place.state / "pid").read_text() if (place.state / "pid").exists() else ""
    if not pid or int(pid) not in first_processes(place):
        raise Stop(f"test cluster {place.instance} is not up")
    return int(pid)


def ensure_own_instance(place: Place) -> None:
    """Raises Stop when a cluster of that number runs which lies elsewhere."""
    for first in running_nodes():
        if first.instance == place.instance and first.folder != place.folder:
            raise Stop(
                f"{first.folder} has test cluster {place.instance}: choose another --instance"
            )


def end_node(place: Place) -> bool:
    """Afterwards no process of the node's is left, for the kernel ends them with the first one.
    False when there was none. Raises Stop for one that cannot be ended."""
    found = first_processes(place)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _await_end(found)
    return bool(found)


def is_running(pid: int) -> bool:
    """False also for a zombie, which nobody has collected yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return not stat.rpartition(") ")[2].startswith("Z")


def _await_end(pids: Sequence[int]) -> None:
    deadline = time.monotonic() + _GONE_SECONDS
    while running := [pid for pid in pids if is_running(pid)]:
        if time.monotonic() > deadline:
            raise Stop(f"process {running[0]} of the cluster does not end though it was killed")
        time.sleep(0.02)
