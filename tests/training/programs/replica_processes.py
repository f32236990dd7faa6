"""Runs the replicas of a job as real processes, restarting them as restartPolicy ExitCode does."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parents[3] / "training" / "programs"

PERMANENT = range(1, 128)


def free_ports(count: int) -> list[int]:
    """Ports that are free now, below the range the kernel hands out by itself."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(20000, 30000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def has_ipv6() -> bool:
    """Whether this machine can speak to itself by IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def environment_of(directory: Path, **variables: str) -> dict[str, str]:
    """The environment a target gives a replica of a job kept in `directory`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ACK_TRAINING_", "TF_"))}
    return {
        **kept,
        "PYTHONPATH": str(PROGRAMS),
        "OMP_NUM_THREADS": "1",
        "TF_NUM_INTRAOP_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "2",
        "ACK_TRAINING_JOB": "trial",
        "ACK_TRAINING_JOB_DIR": str(directory / "trial"),
        "ACK_TRAINING_DATASETS_DIR": str(directory / "datasets"),
        "ACK_TRAINING_RUN": "1",
        "ACK_TRAINING_PROGRESS_DIR": str(directory / "progress"),
        "ACK_TRAINING_START_TIMEOUT": "120",
        **variables,
    }


def run(directory: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A program (`program`, by default mnist.py) ran as the one replica of a job in `directory`."""
    program = PROGRAMS / variables.pop("program", "mnist.py")
    return subprocess.run(
        [sys.executable, "-m", "runtime", str(program), *arguments],
        env=environment_of(directory, **variables),
        capture_output=True,
        text=True,
        check=False,
    )


def scalars(directory: Path) -> dict[str, list[int]]:
    """Steps by tag of every event file in `directory`, read as TensorBoard reads them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(directory), size_guidance={"tensors": 0})
    events.Reload()
    return {tag: [e.step for e in events.Tensors(tag)] for tag in events.Tags()["tensors"]}


class ReplicaProcesses:
    """The replicas of one job; each has a log file `<role>-<index>.log` in `directory`."""

    def __init__(
        self,
        directory: Path,
        program: Path,
        arguments: Sequence[str],
        roles: Mapping[str, int],
        host: str = "127.0.0.1",
        **variables: str,
    ) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._command = [sys.executable, "-m", "runtime", str(PROGRAMS / program), *arguments]
        ports = iter(free_ports(sum(roles.values())))
        self._cluster = {
            role: [f"{host}:{next(ports)}" for _ in range(count)] for role, count in roles.items()
        }
        self._variables = variables
        self.names = [f"{role}-{i}" for role, count in roles.items() for i in range(count)]
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.codes: dict[str, list[int]] = {name: [] for name in self.names}

    def start(self, *names: str) -> None:
        """The replicas named, or all, run afterwards."""
        for name in names or self.names:
            role, _, index = name.rpartition("-")
            task = {"type": role, "index": int(index)}
            config = {"cluster": self._cluster, "task": task, "environment": "cloud"}
            variables = dict(self._variables)
            if len(self.names) > 1:
                variables["TF_CONFIG"] = json.dumps(config)
            with (self.directory / f"{name}.log").open("ab") as log:
                self.processes[name] = subprocess.Popen(
                    self._command,
                    env=environment_of(self.directory, **variables),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )

    def kill(self, *names: str, with_signal: int = signal.SIGKILL) -> None:
        """The signal was sent to the replicas named."""
        for name in names:
            self.processes[name].send_signal(with_signal)

    def run_until(self, reached: Callable[[], bool], limit_seconds: float = 240.0) -> None:
        """Returns once `reached`; replicas that exit with 128 and more are started again."""
        ends = time.monotonic() + limit_seconds
        while not reached():
            for name, process in list(self.processes.items()):
                code = process.poll()
                if code is None:
                    continue
                del self.processes[name]
                self.codes[name].append(code)
                if code < 0 or code >= 128:
                    self.start(name)
                else:
                    assert code not in PERMANENT, f"{name} exited {code}:\n{self.log(name)}"
            assert time.monotonic() < ends, "\n".join(self.log(name) for name in self.names)
            time.sleep(0.05)

    def run_to_end(self, limit_seconds: float = 240.0) -> None:
        """Every replica ended by itself, with 0 in the end."""
        self.run_until(lambda: not self.processes, limit_seconds)
        assert all(codes[-1] == 0 for codes in self.codes.values())

    def stop(self) -> None:
        """No replica runs any more."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()

    def log(self, name: str) -> str:
        return (self.directory / f"{name}.log").read_text(errors="replace")

    def progress(self, name: str) -> dict[str, Any]:
        path = self.directory / "progress" / f"{name}.json"
        found: dict[str, Any] = {"step": 0, "phase": "starting"}
        if path.exists():
            found = json.loads(path.read_text())
        return found

    def result(self) -> dict[str, Any]:
        path = self.directory / "trial" / "checkpoints" / "run-1" / "result.json"
        found: dict[str, Any] = json.loads(path.read_text())
        return found
