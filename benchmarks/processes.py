"""Processes of a measurement: memory, and a bare script's way to start what a stack starts."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supervisor.replicas import PASSED_ON


@dataclass(frozen=True)
class Memory:
    """Bytes. `rss` counts what several processes share in each of them, `pss` its share of it."""

    rss: int
    pss: int

    def peak(self, other: "Memory") -> "Memory":
        return Memory(max(self.rss, other.rss), max(self.pss, other.pss))


def memory_of(pid: int) -> Memory | None:
    """The memory of a process now; None when it is gone or the system does not tell."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return None
    return parse_rollup(text)


def parse_rollup(text: str) -> Memory | None:
    """Linux' smaps_rollup; None when it lacks a figure, as that of a process that just ended."""
    found = {}
    for line in text.splitlines()[1:]:
        name, _, rest = line.partition(":")
        if name in ("Rss", "Pss"):
            found[name] = int(rest.split()[0]) * 1024
    return Memory(found["Rss"], found["Pss"]) if len(found) == 2 else None


@contextlib.contextmanager
def bare(specs: Iterable[Mapping[str, Any]], directory: Path) -> Iterator[None]:
    """Starts every process of the supervisors' `specs` at once, and nothing that watches them.

    On the way out all of them, with what they started, are killed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    kept = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for spec in specs:
            for replica in spec["replicas"]:
                name = f"{spec['name']}-{replica['role']}-{replica['index']}.log"
                with (directory / name).open("wb") as log:
                    started.append(
                        subprocess.Popen(
                            replica["command"],
                            cwd=spec["working_directory"],
                            env=kept | replica["environment"],
                            stdin=subprocess.DEVNULL,
                            stdout=log,
                            stderr=subprocess.STDOUT,
                            start_new_session=True,
                        )
                    )
        yield
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
