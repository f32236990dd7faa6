"""What a training job of a workspace has left on the shared directory, and how far it is."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supervisor import client
from supervisor.job_progress import JobProgress, read_replica_progress
from supervisor.status import Status
from tests.engine.test_faults import until
from tests.engine.workspace import Workspace

PATIENCE_SECONDS = 240
"""For what takes seconds on a quiet machine."""


def checkpoints_directory(workspace: Workspace, job: str, run: int = 1) -> Path:
    return workspace.path / "data" / job / "checkpoints" / f"run-{run}"


def result(workspace: Workspace, job: str, run: int = 1) -> dict[str, Any]:
    """What the job wrote at its end."""
    path = checkpoints_directory(workspace, job, run) / "result.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def has_checkpoint(workspace: Workspace, job: str, run: int = 1) -> bool:
    """Whether a whole checkpoint is there: the index that names them is written last."""
    return (checkpoints_directory(workspace, job, run) / "checkpoint").exists()


def contents(directory: Path) -> dict[Path, bytes]:
    """Every file below `directory`, byte for byte."""
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def status(workspace: Workspace, job: str) -> Status:
    found = client.read_status(workspace.state_of("jobs", job))
    assert found is not None
    return found


def progress(workspace: Workspace, job: str, replica: str = "chief-0") -> JobProgress | None:
    return read_replica_progress(workspace.state_of("jobs", job) / "progress", replica)


def await_checkpoint(workspace: Workspace, job: str, up: "subprocess.Popen[str] | None") -> None:
    """Returns in the middle of the training, with a checkpoint to resume from."""

    def ready() -> bool:
        if up is not None and up.poll() is not None:
            raise AssertionError(up.communicate()[0])
        return has_checkpoint(workspace, job)

    until(ready, PATIENCE_SECONDS)
    reached = progress(workspace, job)
    assert reached is not None
    assert reached.phase == "training", "too late: the job has ended"


def kill_replicas(workspace: Workspace, job: str, replicas: Sequence[str]) -> None:
    """kill -9 of all of them at once; afterwards the supervisor has seen each end."""
    before = status(workspace, job).replicas
    for replica in replicas:
        os.kill(before[replica]["pid"], signal.SIGKILL)

    def ended() -> bool:
        now = status(workspace, job)
        return now.finished or all(
            now.replicas[name]["restarts"] > before[name]["restarts"] for name in replicas
        )

    until(ended, PATIENCE_SECONDS)
