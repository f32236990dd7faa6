"""Makes the runtime of the programs importable, and gives jobs a directory with MNIST."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.training.programs.replica_processes import PROGRAMS, ReplicaProcesses
from workloads.datasets.mnist_sample import fill

StartJob = Callable[..., ReplicaProcesses]

if str(PROGRAMS) not in sys.path:
    sys.path.append(str(PROGRAMS))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tensorflow: starts processes that load TensorFlow")


@pytest.fixture(scope="session")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of datasets that holds MNIST."""
    directory = tmp_path_factory.mktemp("datasets")
    fill(directory / "mnist")
    return directory


@pytest.fixture
def start_job(tmp_path: Path, datasets: Path) -> Iterator[StartJob]:
    """Starts the replicas of a job of mnist.py, or of another program; none outlives the test."""
    (tmp_path / "datasets").symlink_to(datasets)
    jobs: list[ReplicaProcesses] = []

    def start(
        roles: Mapping[str, int],
        arguments: Sequence[str],
        program: Path = PROGRAMS / "mnist.py",
        host: str = "127.0.0.1",
        **variables: str,
    ) -> ReplicaProcesses:
        job = ReplicaProcesses(tmp_path, program, arguments, roles, host, **variables)
        jobs.append(job)
        job.start()
        return job

    yield start
    for job in jobs:
        job.stop()
