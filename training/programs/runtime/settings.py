"""What the target that runs a replica tells it through the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import ReplicaError

DEFAULT_START_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class Settings:
    """Where a run lives on the shared storage. Every path is absolute."""

    job: str
    job_dir: Path
    datasets_dir: Path
    run: int = 1
    export: bool = False
    start_timeout_seconds: float = DEFAULT_START_TIMEOUT_SECONDS

    @property
    def checkpoints_dir(self) -> Path:
        return self.job_dir / "checkpoints" / f"run-{self.run}"

    @property
    def export_dir(self) -> Path:
        return self.job_dir / "export"

    def logs_dir(self, writer: str) -> Path:
        """One directory per writer: TensorBoard follows one event file per directory
        (https://github.com/tensorflow/tensorboard/issues/1011)."""
        return self.job_dir / "logs" / writer / f"run-{self.run}"


def read_settings(
    environment: Mapping[str, str], job_dir: str | None, datasets_dir: str | None
) -> Settings:
    """Settings of this replica, from the environment or, when run by hand, from the two flags.

    Raises ReplicaError when neither gives the job directory, when both do, or when a value is
    malformed.
    """
    job_path = _directory(environment, "ACK_TRAINING_JOB_DIR", "--job-dir", job_dir)
    if job_path is None:
        raise ReplicaError(
            "--job-dir is missing: give the directory that keeps this job's checkpoints and logs,"
            " such as --job-dir=data/trial"
        )
    datasets = _directory(environment, "ACK_TRAINING_DATASETS_DIR", "--datasets-dir", datasets_dir)
    settings = Settings(
        job=environment.get("ACK_TRAINING_JOB", "") or job_path.name,
        job_dir=job_path,
        datasets_dir=datasets or Path.cwd() / "data" / "datasets",
        run=_run(environment.get("ACK_TRAINING_RUN", "")),
        export=_switch(environment, "ACK_TRAINING_EXPORT"),
        start_timeout_seconds=_seconds(environment, "ACK_TRAINING_START_TIMEOUT"),
    )
    _stays_inside(settings.checkpoints_dir, job_path)
    return settings


def _directory(
    environment: Mapping[str, str], variable: str, flag: str, given: str | None
) -> Path | None:
    value = environment.get(variable, "")
    if value and given is not None:
        raise ReplicaError(f"{flag} cannot be given here: {variable} sets it to {value}")
    if value and not os.path.isabs(value):
        raise ReplicaError(f"{variable} is {value!r}, not an absolute path")
    if value:
        return Path(value)
    if given == "":
        raise ReplicaError(f"{flag} is empty, not a directory")
    return Path(os.path.abspath(given)) if given is not None else None


def _run(value: str) -> int:
    if not value:
        return 1
    if value.isascii() and value.isdigit() and int(value) >= 1:
        return int(value)
    raise ReplicaError(f"ACK_TRAINING_RUN is {value!r}, not a number from 1 up")


def _switch(environment: Mapping[str, str], variable: str) -> bool:
    value = environment.get(variable, "")
    if value not in ("", "0", "1"):
        raise ReplicaError(f"{variable} is {value!r}, not 0 or 1")
    return value == "1"


def _seconds(environment: Mapping[str, str], variable: str) -> float:
    value = environment.get(variable, "")
    if not value:
        return DEFAULT_START_TIMEOUT_SECONDS
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ReplicaError(f"{variable} is {value!r}, not a number of seconds above 0")
    return seconds


def _stays_inside(checkpoints_dir: Path, job_dir: Path) -> None:
    """Checkpoints written through a link to elsewhere would be on no shared storage, and the next
    replica would start anew."""
    if not checkpoints_dir.resolve().is_relative_to(job_dir.resolve()):
        raise ReplicaError(
            f"{checkpoints_dir} leads to {checkpoints_dir.resolve()}, outside the job's directory"
            f" {job_dir}; checkpoints must stay inside it"
        )
