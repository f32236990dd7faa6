"""The state of a job or service in memory: immutable values that `rules` and `services` compute."""

from __future__ import annotations

from dataclasses import dataclass, replace

PENDING, RUNNING, SUCCEEDED, FAILED, TERMINATED = (
    "Pending",
    "Running",
    "Succeeded",
    "Failed",
    "Terminated",
)
CREATED, RESTARTING, SUSPENDED, STOPPED = "Created", "Restarting", "Suspended", "Stopped"
FINISHED = (SUCCEEDED, FAILED, STOPPED)
FAILURES_KEPT = 100


@dataclass(frozen=True)
class Condition:
    """One entry of a TFJob's status.conditions. `at` is in seconds since 1970."""

    type: str
    status: bool
    reason: str
    message: str
    at: float


@dataclass(frozen=True)
class Replica:
    """One replica. A Pending one may start from `due_at` on; a stopping one is being ended by us.

    `delays` counts restarts in a row without a long run (they set the next delay), `short_lives`
    restarts in a row that lived shortly without progress; `progress` is the highest step seen.
    """

    role: str
    index: int
    restart_policy: str
    state: str = PENDING
    due_at: float = 0.0
    stopping: bool = False
    pid: int | None = None
    restarts: int = 0
    delays: int = 0
    short_lives: int = 0
    progress: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    started_at: float | None = None
    finished_at: float | None = None

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"

    def with_process(self, pid: int, now: float) -> Replica:
        """The replica once it has a process."""
        return replace(
            self,
            state=RUNNING,
            pid=pid,
            started_at=now,
            finished_at=None,
            exit_code=None,
            signal=None,
        )

    def without_process(self, end: Exit, now: float) -> Replica:
        """The replica after its process ended; what that makes of it is for others to say."""
        return replace(self, pid=None, finished_at=now, exit_code=end.code, signal=end.signal)

    def anew(self) -> Replica:
        """The replica as if it had never run."""
        return Replica(self.role, self.index, self.restart_policy)


@dataclass(frozen=True)
class Exit:
    """How a process ended: a shell's exit code (128 + n for signal n), n or None, and the rest.

    `progress` is the highest step in the job's progress files, `lines` its last log lines.
    """

    code: int
    signal: int | None = None
    progress: int | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A replica that failed, retried or not; no exit code when its process was still there."""

    replica: str
    exit_code: int | None
    signal: int | None
    at: float
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """A job or a service with all its replicas. Times are in seconds since 1970."""

    kind: str
    name: str
    replicas: dict[str, Replica]
    state: str = CREATED
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    start_time: float | None = None
    completion_time: float | None = None
    failures: tuple[Failure, ...] = ()
    ready: bool = False
    healthy: bool = False
    was_ready: bool = False
    unhealthy_since: float | None = None

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    def with_replica(self, replica: Replica) -> Job:
        """This job with one replica replaced."""
        return replace(self, replicas={**self.replicas, replica.name: replica})

    def with_failure(self, failure: Failure) -> Job:
        """This job with one more failure at the end of its record (the oldest are dropped)."""
        return replace(self, failures=(*self.failures, failure)[-FAILURES_KEPT:])

    def startable(self, now: float) -> list[str]:
        """The replicas whose process should be started now."""
        if self.finished or self.state == SUSPENDED:
            return []
        return [r.name for r in self.replicas.values() if r.state == PENDING and r.due_at <= now]

    def running(self) -> list[str]:
        """The replicas that have a process."""
        return [r.name for r in self.replicas.values() if r.state == RUNNING]


def with_condition(job: Job, kind: str, status: bool, reason: str, message: str, at: float) -> Job:
    """The job with one condition set as the operator sets it, and `state` following it.

    Running and Restarting replace one another, Failed is final, and a finished job is no longer
    Running. Source: training-operator v1.9.4, pkg/util/status.go (setCondition).
    """
    old = {condition.type: condition for condition in job.conditions}
    if FAILED in old and old[FAILED].status:
        return job
    same = old.get(kind)
    if same is not None and same.status == status and same.reason == reason:
        return replace(job, state=kind) if status else job
    since = same.at if same is not None and same.status == status else at
    replaced = {RESTARTING: RUNNING, RUNNING: RESTARTING}.get(kind)
    kept = [c for c in job.conditions if c.type not in (kind, replaced)]
    if kind in (FAILED, SUCCEEDED):
        kept = [replace(c, status=False) if c.type == RUNNING else c for c in kept]
    job = replace(job, conditions=(*kept, Condition(kind, status, reason, message, since)))
    return replace(job, state=kind, message=message) if status else job
