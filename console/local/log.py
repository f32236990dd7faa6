"""The log file of one replica on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from console.choice import choose_job, choose_replica
from console.logs import Tell
from supervisor import client
from supervisor.printable import printable

_POLL_SECONDS = 0.3


def find(state: Path, job: str | None, replica: str | None) -> Path:
    """The log file of `replica` of `job`. Where only one is possible, it need not be named."""
    job = choose_job(sorted(path.parent.name for path in state.glob("*/*/logs")), job)
    folder = next(state.glob(f"*/{job}/logs"))
    replicas = sorted(path.stem for path in folder.glob("*.log"))
    return folder / f"{choose_replica(job, replicas, replica)}.log"


class LocalLog:
    """The log at `path`, followed across rotation."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self, tell: Tell) -> str:
        text = self._path.read_text(encoding="utf-8", errors="replace")
        if not text:
            tell(f"{self._path.stem} has written nothing yet")
        return printable(text)

    def follow(self, tell: Tell) -> Iterator[str]:
        path = self._path
        log = path.open(encoding="utf-8", errors="replace")
        if path.stat().st_size == 0:
            tell(f"{path.stem} has written nothing yet")
        state, over = path.parent.parent, False
        if client.alive(state):
            tell("following; ctrl-C ends this")
        while True:
            chunk = log.read()
            if chunk:
                yield printable(chunk)
                continue
            if _was_rotated(path, log):
                # What was written between the read above and the rotation.
                yield printable(log.read())
                log.close()
                log = path.open(encoding="utf-8", errors="replace")
            elif over:
                tell(f"{_what(state)}: nothing more will come")
                return
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
