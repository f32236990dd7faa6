"""A place for one supervisor, from which every process is gone after the test."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from supervisor import client
from supervisor.spec import NEVER, Health, Replica, RunPolicy, Spec
from supervisor.status import Status
from supervisor.sweep import marked

PATIENCE = 40.0


def wait_until(condition: Callable[[], bool], what: str = "") -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"did not happen within {PATIENCE} s: {what}"
        time.sleep(0.02)


def shell(name: str, script: str, policy: str = NEVER, **environment: str) -> Replica:
    role, _, index = name.rpartition("-")
    return Replica(role, int(index), ["sh", "-c", script], environment, policy)


def python(name: str, program: str, policy: str = NEVER, **environment: str) -> Replica:
    role, _, index = name.rpartition("-")
    command = [sys.executable, "-I", "-S", "-c", program]
    return Replica(role, int(index), command, environment, policy)


def exits(folder: Path, *codes: int) -> str:
    """A script whose successive runs end with these codes; the last one repeats."""
    runs = f'echo run >> "{folder}/runs"; n=$(wc -l < "{folder}/runs"); '
    return (
        runs
        + "".join(f'[ "$n" -gt {n + 1} ] || exit {code}; ' for n, code in enumerate(codes))
        + f"exit {codes[-1]}"
    )


class Place:
    """A state directory with a space and an umlaut in its path, and what to do with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state of jöb"

    def launch(
        self,
        *replicas: Replica,
        secrets: Mapping[str, str] | None = None,
        kind: str = "job",
        backoff_limit: int | None = None,
        deadline: float | None = None,
        clean: str = "Running",
        suspend: bool = False,
        success: str = "",
        health: Health | None = None,
        progress: Path | None = None,
        start_timeout: float | None = None,
    ) -> None:
        policy = RunPolicy(backoff_limit, deadline, clean, suspend)
        spec = Spec(
            kind,
            "j",
            "g1",
            str(self.folder),
            list(replicas),
            policy,
            success,
            health,
            None if progress is None else str(progress),
            start_timeout,
        )
        client.launch(spec, secrets or {}, self.state)

    def status(self) -> Status:
        found = client.read_status(self.state)
        assert found is not None
        return found

    def pid(self, replica: str) -> int:
        """The pid of a replica once it runs."""
        wait_until(lambda: self.status().replicas[replica]["pid"] is not None, replica)
        return int(self.status().replicas[replica]["pid"])

    def until(self, state: str) -> Status:
        wait_until(
            lambda: self.status().state == state, f"{state}: {client.read_status(self.state)}"
        )
        return self.status()

    def until_gone(self) -> None:
        """Waits for the end of the supervisor by itself; nothing of it may be left then."""
        wait_until(lambda: not client.alive(self.state), "the end of the supervisor")
        assert self.processes() == set()

    def until_wrote(self, replica: str, text: str) -> None:
        wait_until(
            lambda: text in client.tail(self.state, replica, 50),
            f"{text!r} in {client.tail(self.state, replica, 50)}",
        )

    def processes(self) -> set[int]:
        return marked(os.path.realpath(self.state))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    yield found
    client.stop(found.state, 0)
    assert found.processes() == set()
