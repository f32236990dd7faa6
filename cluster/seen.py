"""What was seen of a training job on a cluster, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

GENERATION = "ack-training/generation"
"""Annotation of a TFJob and of its pods: a digest of the specification that they came from."""

CONTAINER = "tensorflow"
"""The container that the operator takes for the replica."""


@dataclass(frozen=True)
class Condition:
    """A condition of a job or pod. `since` is in Unix seconds by the cluster's clock."""

    type: str
    holds: bool
    reason: str
    message: str
    since: float


@dataclass(frozen=True)
class EventSeen:
    """An event of a job or of a pod. `last` is in Unix seconds by the cluster's clock."""

    uid: str
    reason: str
    message: str
    warning: bool
    last: float
    count: int = 1
    name: str = ""
    """Of what it is about."""


@dataclass(frozen=True)
class Ended:
    """How a process in a container ended."""

    exit_code: int
    reason: str
    message: str
    finished: float


@dataclass(frozen=True)
class ContainerSeen:
    """A container: `waiting` is the reason it does not run, "" when it runs or has ended."""

    name: str
    image: str
    waiting: str = ""
    waiting_message: str = ""
    running: bool = False
    ended: Ended | None = None
    ended_before: Ended | None = None
    """The end of the process before this one."""
    restarts: int = 0
    memory_limit: str = ""


@dataclass(frozen=True)
class PodSeen:
    """A replica's pod. `replica` is such as worker-1."""

    name: str
    uid: str
    replica: str
    phase: str
    reason: str = ""
    message: str = ""
    node: str = ""
    scheduler: str = ""
    deleting: bool = False
    generation: str = ""
    conditions: tuple[Condition, ...] = ()
    init: tuple[ContainerSeen, ...] = ()
    containers: tuple[ContainerSeen, ...] = ()
    events: tuple[EventSeen, ...] = ()
    before: tuple[EventSeen, ...] = ()
    """Those of pods that had its name before it."""
    secrets: tuple[tuple[str, str], ...] = ()
    """Name and key of each Secret that a variable of its containers comes from; without a key, all
    of the Secret."""

    @property
    def role(self) -> str:
        return self.replica.rpartition("-")[0]

    @property
    def main(self) -> ContainerSeen | None:
        """The container that is the replica; None before there is one."""
        return next((found for found in self.containers if found.name == CONTAINER), None)

    def condition(self, kind: str) -> Condition | None:
        return next((found for found in self.conditions if found.type == kind), None)


@dataclass(frozen=True)
class JobSeen:
    """A TFJob, its pods and its events. Without `uid` there is no such TFJob."""

    name: str
    namespace: str
    uid: str = ""
    created: float = 0.0
    """Unix seconds by the cluster's clock."""
    deleting: bool = False
    suspend: bool = False
    generation: str = ""
    managed_by: str = ""
    backoff_limit: int | None = None
    success_policy: str = ""
    replicas: tuple[tuple[str, int], ...] = ()
    policies: tuple[tuple[str, str], ...] = ()
    """restartPolicy of each role."""
    templates: tuple[tuple[str, str], ...] = ()
    """What its pods carry as GENERATION, by role."""
    conditions: tuple[Condition, ...] = ()
    pods: tuple[PodSeen, ...] = ()
    events: tuple[EventSeen, ...] = ()

    @property
    def wanted(self) -> list[str]:
        """The replicas that the TFJob asks for, in order."""
        return [f"{role}-{index}" for role, count in self.replicas for index in range(count)]

    @property
    def decider(self) -> str:
        """The replica whose success is the job's: the chief, else worker-0."""
        wanted = self.wanted
        deciding = ("chief-0", "master-0", "worker-0")
        return next((name for name in deciding if name in wanted), wanted[0] if wanted else "")

    def pod(self, replica: str) -> PodSeen | None:
        found = [pod for pod in self.pods if pod.replica == replica]
        # For a moment the old pod of a replica and its successor may both be there.
        return min(found, key=lambda pod: pod.deleting, default=None)

    def policy(self, role: str) -> str:
        return dict(self.policies).get(role, "")
