"""When a job's replicas start again, and when the job is over: TFJob v1 as pure functions.

The rules are those of training-operator v1.9.4, read in its source:

- Retries (pkg/controller.v1/common/pod.go, pkg/util/train/train_util.go): ExitCode retries codes
  of 128 and more, so also death by a signal; OnFailure and Always are restarted in place by the
  kubelet, Always also after 0, so a chief with Always never ends its job. Only an ExitCode retry
  puts the job in state Restarting, until that replica runs again.
- backoffLimit (pkg/core/job.go, PastBackoffLimit): N >= 1 is reached when the restarts of the
  *running* OnFailure and Always replicas add up to N; a replica that succeeded no longer counts
  and an ExitCode retry, being a new pod, never does. The restart that reaches N is counted but
  not run here; the operator lets it run until its next look. 0: the first such restart fails the
  job, and so does a failure that ExitCode would retry, before it is (pkg/controller.v1/common/
  job.go, exceedsBackoffLimit, whose number of previous retries is always 0).
- Success and failure (pkg/controller.v1/tensorflow/tfjob_controller.go, UpdateJobStatus).
- activeDeadlineSeconds counts from the start time, which resume sets anew; suspend ends every
  replica and forgets what it did, the finished ones included.

Where this differs on purpose: delays between restarts are 0, 1, 2, 4, … at most 30 s instead of
the kubelet's 10 s doubled up to 300 s, and start over after a run of 60 s. After the end nothing
is restarted, whatever cleanPodPolicy leaves running. A Never replica that fails while another
one restarts fails the job; the operator keeps such a job in Restarting. An ExitCode replica that
was restarted 10 times in a row, each time for less than 30 s and with no new step in the progress
files, fails the job, with or without a backoffLimit; the operator would go on for ever.
"""

from __future__ import annotations

from dataclasses import replace

from . import restarts
from . import spec as specs
from .causes import PEER_LOST, describe_exit
from .state import (
    CREATED,
    FAILED,
    PENDING,
    RESTARTING,
    RUNNING,
    STOPPED,
    SUCCEEDED,
    SUSPENDED,
    TERMINATED,
    Exit,
    Failure,
    Job,
    Replica,
    with_condition,
)

# Ends that our own SIGTERM and SIGKILL cause: no failures of a replica that is being ended.
ENDED_BY_US = (0, 130, 137, 143)
CHIEF, WORKER = "chief", "worker"


def created(spec: specs.Spec, now: float) -> Job:
    """The job before its first process: all replicas due at once, or Suspended if so asked."""
    replicas = {r.name: Replica(r.role, r.index, r.restart_policy) for r in spec.replicas}
    job = Job(kind=spec.kind, name=spec.name, replicas=replicas)
    job = with_condition(job, CREATED, True, "TFJobCreated", f"Job {job.name} is created.", now)
    if spec.run_policy.suspend:
        return suspended(job, now)
    return replace(job, start_time=now)


def started(job: Job, name: str, pid: int, now: float) -> Job:
    """The job once `name` has a process: Running when that is its chief, else any worker."""
    return _running_again(job.with_replica(job.replicas[name].with_process(pid, now)), now)


def exited(job: Job, spec: specs.Spec, name: str, end: Exit, now: float) -> Job:
    """The job after the process of `name` ended: retried, succeeded or failed."""
    replica = job.replicas[name].without_process(end, now)
    failure = Failure(name, end.code, end.signal, now, end.lines)
    if replica.stopping:
        # A slow death may be what made a peer fail first; all else is a consequence of the end.
        cause = job.state == FAILED and job.failures and job.failures[-1].exit_code == PEER_LOST
        if cause and end.code not in ENDED_BY_US:
            job = job.with_failure(failure)
        return job.with_replica(_ended_by_us(job, replica, now))
    if end.code != 0:
        job = job.with_failure(failure)
    replica = replace(replica, state=SUCCEEDED if end.code == 0 else FAILED)
    job = job.with_replica(replica)
    if job.finished:
        return job
    if not restarts.retries(replica.restart_policy, end.code):
        if end.code != 0:
            return failed(job, spec, "ReplicaFailed", f"{name} {describe_exit(end)}", now)
        return _succeeded(job, spec, now)
    return _restarting(job, spec, replica, end, now)


def failed(job: Job, spec: specs.Spec, reason: str, message: str, now: float) -> Job:
    """The failed job; what still runs is ended unless cleanPodPolicy is None."""
    job = with_condition(job, FAILED, True, "TFJobFailed", message, now)
    return _finished(replace(job, reason=reason), spec, now)


def not_started(
    job: Job,
    spec: specs.Spec,
    name: str,
    reason: str,
    message: str,
    lines: tuple[str, ...],
    now: float,
) -> Job:
    """The job failed because the process of `name` could not start or never began its work."""
    replica = job.replicas[name]
    if replica.state == PENDING:
        job = job.with_replica(replace(replica, state=FAILED, finished_at=now))
    job = job.with_failure(Failure(name, None, None, now, lines))
    return failed(job, spec, reason, message, now)


def ticked(job: Job, spec: specs.Spec, now: float) -> Job:
    """The job as time alone changes it: failed when its deadline is over."""
    limit = spec.run_policy.active_deadline_seconds
    idle = job.finished or job.state == SUSPENDED or job.start_time is None
    if limit is None or idle or now - (job.start_time or 0) < limit:
        return job
    message = f"Job {job.name} was active longer than its deadline of {limit:g} s"
    return failed(job, spec, "DeadlineExceeded", message, now)


def suspended(job: Job, now: float) -> Job:
    """The job with every replica ended and forgotten, waiting for `resumed`."""
    if job.finished or job.state == SUSPENDED:
        return job
    message = f"Job {job.name} is suspended."
    if job.state == RUNNING:
        job = with_condition(job, RUNNING, False, "TFJobSuspended", message, now)
    job = with_condition(job, SUSPENDED, True, "TFJobSuspended", message, now)
    replicas = {
        name: replace(replica, stopping=True) if replica.state == RUNNING else replica.anew()
        for name, replica in job.replicas.items()
    }
    return replace(
        job,
        replicas=replicas,
        reason="Suspended",
        ready=False,
        healthy=False,
        was_ready=False,
        unhealthy_since=None,
    )


def resumed(job: Job, now: float) -> Job:
    """The suspended job started anew, its deadline counting from now."""
    if job.state != SUSPENDED:
        return job
    message = f"Job {job.name} is resumed."
    job = with_condition(job, SUSPENDED, False, "TFJobResumed", message, now)
    return replace(job, state=CREATED, reason="Resumed", message=message, start_time=now)


def stopped(job: Job, reason: str, now: float) -> Job:
    """The job with everything ended for good; a finished one keeps its state."""
    if not job.finished:
        job = replace(
            job,
            state=STOPPED,
            reason=reason,
            message=f"Job {job.name} was stopped.",
            completion_time=now,
            ready=False,
        )
    return _without_replicas(job)


def decider(job: Job) -> str | None:
    """The replica whose success is the job's: the chief, else worker-0."""
    for role in (CHIEF, WORKER):
        if f"{role}-0" in job.replicas:
            return f"{role}-0"
    return None


def _restarting(job: Job, spec: specs.Spec, replica: Replica, end: Exit, now: float) -> Job:
    again = restarts.again(replica, end, now)
    job = job.with_replica(again)
    message = restarts.over_limit(job, spec.run_policy.backoff_limit, again, end)
    if message is not None:
        if replica.restart_policy == specs.EXIT_CODE:
            # The operator looks before it makes a new pod, while one that is restarted in place
            # runs already.
            job = job.with_replica(replica)
        return failed(job, spec, "BackoffLimitExceeded", message, now)
    if replica.restart_policy != specs.EXIT_CODE:
        return job
    message = restarts.in_a_loop(again, end)
    if message is not None:
        return failed(job.with_replica(replica), spec, "NoProgress", message, now)
    message = f"{replica.name} {describe_exit(end)} and is started again"
    return replace(
        with_condition(job, RESTARTING, True, "TFJobRestarting", message, now),
        reason="ReplicaRestarting",
        message=message,
    )


def _running_again(job: Job, now: float) -> Job:
    waiting = any(
        r.state == PENDING and r.restarts and r.restart_policy == specs.EXIT_CODE
        for r in job.replicas.values()
    )
    role = CHIEF if f"{CHIEF}-0" in job.replicas else WORKER
    active = any(r.state == RUNNING and r.role == role for r in job.replicas.values())
    if job.finished or job.state == SUSPENDED or waiting or not active:
        return job
    job = with_condition(job, RUNNING, True, "TFJobRunning", f"Job {job.name} is running.", now)
    return replace(job, reason="Running")


def _succeeded(job: Job, spec: specs.Spec, now: float) -> Job:
    workers = [r for r in job.replicas.values() if r.role == WORKER]
    first = job.replicas.get(decider(job) or "")
    if first is None:
        return job
    done = first.state == SUCCEEDED
    if first.role == WORKER and spec.success_policy == "AllWorkers":
        done = all(worker.state == SUCCEEDED for worker in workers)
    if not done:
        return job
    message = f"Job {job.name} successfully completed."
    job = with_condition(job, SUCCEEDED, True, "TFJobSucceeded", message, now)
    return _finished(replace(job, reason="Succeeded"), spec, now)


def _finished(job: Job, spec: specs.Spec, now: float) -> Job:
    job = replace(job, completion_time=job.completion_time or now, ready=False)
    return job if spec.run_policy.clean_pod_policy == "None" else _without_replicas(job)


def _without_replicas(job: Job) -> Job:
    replicas = {}
    for name, replica in job.replicas.items():
        if replica.state == RUNNING:
            replica = replace(replica, stopping=True)
        elif replica.state == PENDING:
            replica = replace(replica, state=TERMINATED)
        replicas[name] = replica
    return replace(job, replicas=replicas)


def _ended_by_us(job: Job, replica: Replica, now: float) -> Replica:
    if job.finished:
        state = SUCCEEDED if replica.exit_code == 0 else TERMINATED
        return replace(replica, state=state, stopping=False)
    return replace(replica.anew(), due_at=now)
