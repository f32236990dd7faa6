"""What the table shows of a stack, wherever the stack runs."""

from __future__ import annotations

from dataclasses import dataclass

from supervisor.job_progress import JobProgress


@dataclass(frozen=True)
class ReplicaLook:
    """A row. `node` is empty on this machine and before there is one."""

    name: str
    state: str
    restarts: int = 0
    progress: JobProgress | None = None
    node: str = ""


@dataclass(frozen=True)
class JobLook:
    """A job. `note` says what keeps or ended it, "" where nothing does; `progress` is its bar."""

    name: str
    state: str
    note: str = ""
    replicas: tuple[ReplicaLook, ...] = ()
    progress: JobProgress | None = None


@dataclass(frozen=True)
class ServiceLook:
    """A program that runs for every job."""

    name: str
    state: str
    note: str = ""


@dataclass(frozen=True)
class Look:
    """A whole stack at one moment. `nodes`: whether replicas run on different machines."""

    jobs: tuple[JobLook, ...] = ()
    services: tuple[ServiceLook, ...] = ()
    nodes: bool = False
