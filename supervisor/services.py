"""A service (TensorBoard, a model server) as pure functions: kept running, healthy or started anew.

Until it was healthy once, a service has `health.start_timeout_seconds` in all, restarts included,
and fails after that. Once it was healthy it never fails: a process that ends is started again
with the delays of `rules`, and one that has not been healthy for 60 s is ended and started again
(but not within its own start timeout). Without `health` a running process counts as ready.
"""

from __future__ import annotations

from dataclasses import replace

from .causes import describe_exit
from .delays import due_again
from .rules import ENDED_BY_US, failed
from .spec import Spec
from .state import (
    RESTARTING,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    TERMINATED,
    Exit,
    Failure,
    Job,
    with_condition,
)

UNHEALTHY_SECONDS = 60.0


def started(job: Job, spec: Spec, name: str, pid: int, now: float) -> Job:
    """The service once `name` has a process."""
    job = job.with_replica(job.replicas[name].with_process(pid, now))
    if spec.health is None and len(job.running()) == len(job.replicas):
        return checked(job, True, now)
    return job


def exited(job: Job, spec: Spec, name: str, end: Exit, now: float) -> Job:
    """The service after a process of it ended: it is started again unless the service is over."""
    replica = job.replicas[name].without_process(end, now)
    ended_by_us, replica = replica.stopping, replace(replica, stopping=False)
    if not ended_by_us or end.code not in ENDED_BY_US:
        job = job.with_failure(Failure(name, end.code, end.signal, now, end.lines))
    if job.finished:
        state = SUCCEEDED if end.code == 0 else TERMINATED
        return job.with_replica(replace(replica, state=state))
    if job.state == SUSPENDED:
        return job.with_replica(replica.anew())
    job = replace(job.with_replica(due_again(replica, now)), ready=False, healthy=False)
    message = f"{name} {describe_exit(end)} and is started again"
    job = with_condition(job, RESTARTING, True, "ServiceRestarting", message, now)
    return replace(job, reason="ReplicaRestarting", message=message)


def checked(job: Job, healthy: bool, now: float) -> Job:
    """The service after its health was looked at."""
    if job.finished or job.state == SUSPENDED:
        return job
    if not healthy:
        since = now if job.unhealthy_since is None else job.unhealthy_since
        return replace(job, healthy=False, ready=False, unhealthy_since=since)
    job = replace(job, healthy=True, ready=True, was_ready=True, unhealthy_since=None)
    job = with_condition(job, RUNNING, True, "ServiceReady", f"{job.name} is ready.", now)
    return replace(job, reason="Ready", message=f"{job.name} is ready.")


def ticked(job: Job, spec: Spec, now: float) -> Job:
    """The service as time alone changes it: ended, to start again, when unhealthy for long."""
    unhealthy_since = job.unhealthy_since
    if job.finished or job.state == SUSPENDED or spec.health is None or unhealthy_since is None:
        return job
    if not job.was_ready or now - unhealthy_since < UNHEALTHY_SECONDS:
        return job
    patience = max(spec.health.start_timeout_seconds, UNHEALTHY_SECONDS)
    for replica in job.replicas.values():
        if replica.state == RUNNING and now - (replica.started_at or now) >= patience:
            job = job.with_replica(replace(replica, stopping=True))
    return job


def start_is_overdue(job: Job, spec: Spec, now: float) -> bool:
    """Whether the service was never healthy and its start timeout is over."""
    if job.finished or job.state == SUSPENDED or spec.health is None or job.was_ready:
        return False
    return now - (job.start_time or now) >= spec.health.start_timeout_seconds


def not_started(job: Job, spec: Spec, now: float, lines: tuple[str, ...]) -> Job:
    """The service failed for want of health; `lines` are the last log lines of its replica."""
    limit, url = (spec.health.start_timeout_seconds, spec.health.url) if spec.health else (0.0, "")
    message = f"{job.name} did not answer at {url} within {limit:g} s of its start"
    if job.failures:
        last = job.failures[-1]
        message += f"; {last.replica} {describe_exit(last)}"
    else:
        job = job.with_failure(Failure(next(iter(job.replicas)), None, None, now, lines))
    return failed(job, spec, "StartTimeout", message, now)
