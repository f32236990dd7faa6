"""What is on a volume, and a program that is killed at each of its steps in turn."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_PROJECT = Path(__file__).parents[3]

# Kills itself before the n-th step that changes a file; all of them tell Python's audit hooks.
_KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
CHANGES = ("os.rename", "os.mkdir", "os.link", "os.remove", "os.rmdir", "os.chmod", "os.symlink")
def hook(event, details):
    global left
    writes = event == "open" and isinstance(details[2], int) and details[2] & (
        os.O_WRONLY | os.O_RDWR | os.O_CREAT
    )
    if event in CHANGES or writes:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
from workloads.volume.__main__ import main
sys.addaudithook(hook)
sys.exit(main(sys.argv[1:]))
"""


def run(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the program as a container does."""
    return _run(["-m", "workloads.volume", *arguments], environment)


def run_killed_at(step: int, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The same, killed by SIGKILL just before its `step`-th change of a file."""
    return _run(["-c", _KILLED, str(step), *arguments], None)


def was_killed(ran: subprocess.CompletedProcess[str]) -> bool:
    return ran.returncode == -signal.SIGKILL


def _run(
    command: Sequence[str], environment: Mapping[str, str] | None
) -> subprocess.CompletedProcess[str]:
    # -S: without installed packages, which only the sample needs.
    return subprocess.run(
        [sys.executable, "-S", "-B", *command],
        env={**os.environ, "PYTHONPATH": str(_PROJECT), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def contents(root: Path) -> dict[str, str]:
    """Every path below `root`, with its kind, mode and what it holds."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        mode = oct(stat.S_IMODE(status.st_mode))
        if path.is_symlink():
            held = f"-> {os.readlink(path)}"
        elif path.is_dir():
            held = "folder"
        else:
            held = f"{status.st_mtime_ns} {path.read_bytes()!r}"
        found[path.relative_to(root).as_posix()] = f"{mode} {held}"
    return found


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
