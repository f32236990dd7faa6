"""Finds and ends the processes of a cluster."""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from toolchain.cluster.place import Place
from toolchain.report import Stop

MODULE = "toolchain.cluster.node"
_GONE_SECONDS = 60.0


def node_command(python: str, place: Place) -> list[str]:
    """How the node's first process is started. The folder is there for `first_processes` alone:
    two users' clusters may have one number."""
    return [python, "-m", MODULE, str(place.instance), str(place.folder)]


def first_processes(place: Place) -> list[int]:
    """The node's first process, and the one that made its namespaces and waits for it."""
    ending = node_command("", place)[1:]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended meanwhile
        if arguments[-len(ending) - 1 : -1] == ending:
            found.append(int(folder.name))
    return sorted(found)


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
