"""The log of one replica."""

import os
import sys
import time
from pathlib import Path
from typing import IO

from supervisor import client

_POLL_SECONDS = 0.3


class NotFoundError(Exception):
    """There is no such log; the text names the ones that there are."""


def find(state: Path, job: str | None, replica: str | None) -> Path:
    """The log file of `replica` of `job`. Where only one is possible, it need not be named."""
    jobs = sorted(path.parent.name for path in state.glob("*/*/logs"))
    if job is None and len(jobs) == 1:
        job = jobs[0]
    if job is None or job not in jobs:
        raise NotFoundError(f"JOB={job or ''}: {_choices(jobs)}")
    folder = next(state.glob(f"*/{job}/logs"))
    replicas = sorted(path.stem for path in folder.glob("*.log"))
    if replica is None:
        replica = next((name for name in ("chief-0", "worker-0") if name in replicas), None)
        replica = replica or (replicas[0] if len(replicas) == 1 else None)
    if replica not in replicas:
        # A role with one replica may be named by its role alone.
        replica = f"{replica}-0" if f"{replica}-0" in replicas else replica
    if replica is None or replica not in replicas:
        raise NotFoundError(f"REPLICA={replica or ''} of {job}: {_choices(replicas)}")
    return folder / f"{replica}.log"


def print_once(path: Path) -> int:
    """Prints what the log holds now."""
    print(path.read_text(encoding="utf-8", errors="replace"), end="")
    return 0


def follow(path: Path) -> int:
    """Prints the log and what is added to it, across rotation, until the job is over or the user
    has seen enough."""
    log = path.open(encoding="utf-8", errors="replace")
    if path.stat().st_size == 0:
        print(f"{path.stem} has written nothing yet", file=sys.stderr)
    state, over = path.parent.parent, False
    if client.alive(state):
        print("(following; ctrl-C ends this)", file=sys.stderr)
    while True:
        chunk = log.read()
        if chunk:
            print(chunk, end="", flush=True)
            continue
        if _was_rotated(path, log):
            # What was written between the read above and the rotation.
            print(log.read(), end="", flush=True)
            log.close()
            log = path.open(encoding="utf-8", errors="replace")
        elif over:
            print(f"({_what(state)}: nothing more will come)", file=sys.stderr)
            return 0
        else:
            # Before the next read: what the last replica wrote is in the log by then.
            over = not client.alive(state)
            time.sleep(_POLL_SECONDS)


def _what(state: Path) -> str:
    seen = client.observe(state).state
    return "it no longer runs" if seen in (client.ABSENT, client.LOST) else f"it has {seen.lower()}"


def _was_rotated(path: Path, log: IO[str]) -> bool:
    try:
        return path.stat().st_ino != os.fstat(log.fileno()).st_ino
    except FileNotFoundError:
        return False


def _choices(names: list[str]) -> str:
    return f"choose one of {', '.join(names)}" if names else "nothing has run yet"
