"""Where things lie on this machine. Recorded inputs hold paths relative to the project, so that a
checkout that was moved is still the same stack."""

import os
from pathlib import Path

from provider.kinds import Properties, ProviderError

PROJECT = Path(__file__).resolve().parent.parent
"""The folder of Pulumi.yaml."""


def storage_root(inputs: Properties) -> Path:
    """The shared directory, the local stand-in for NAS."""
    return PROJECT / str(inputs["storage"])


def state_directory(inputs: Properties) -> Path:
    return PROJECT / str(inputs["stateDirectory"])


def job_state(inputs: Properties, name: str | None = None) -> Path:
    return state_directory(inputs) / "jobs" / str(name or inputs["name"])


def service_state(inputs: Properties, name: str | None = None) -> Path:
    return state_directory(inputs) / "services" / str(name or inputs["name"])


def job_directory(inputs: Properties) -> Path:
    """What a job reads and writes: checkpoints, logs, exports."""
    return storage_root(inputs) / str(inputs["directory"])


def make_directory(path: Path, *, mode: int = 0o755) -> None:
    """Makes `path` and its parents; ProviderError says why that cannot be."""
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise ProviderError(f"cannot make the directory {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ProviderError(f"the directory {path} cannot be written to")


def dataset_directory(inputs: Properties) -> Path:
    return storage_root(inputs) / "datasets" / str(inputs["name"])
