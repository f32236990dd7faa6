"""Whether a replica that ended starts again, and when its restarts are too many.

The sources of these rules stand in `rules`.
"""

from __future__ import annotations

from dataclasses import replace

from . import spec as specs
from .causes import describe_exit
from .delays import due_again
from .state import PENDING, RUNNING, Exit, Job, Replica

RETRYABLE_FROM = 128
SHORT_LIFE_SECONDS = 30.0
SHORT_LIVES_LIMIT = 10


def retries(policy: str, code: int) -> bool:
    """Whether `policy` starts a replica again that ended with `code`."""
    return (
        policy == specs.ALWAYS
        or (policy == specs.ON_FAILURE and code != 0)
        or (policy == specs.EXIT_CODE and code >= RETRYABLE_FROM)
    )


def again(replica: Replica, end: Exit, now: float) -> Replica:
    """The replica with its next start due, and with what its last life says of a crash loop."""
    lived = now - (replica.started_at or now)
    advanced = end.progress is not None and end.progress > (replica.progress or 0)
    short = lived < SHORT_LIFE_SECONDS and not advanced
    return replace(
        due_again(replica, now),
        short_lives=replica.short_lives + 1 if short else 0,
        progress=end.progress if advanced else replica.progress,
    )


def over_limit(job: Job, limit: int | None, replica: Replica, end: Exit) -> str | None:
    """Why the job's restarts are more than its backoffLimit allows; None while they are not."""
    if limit is None or _counted(job, limit) < max(limit, 1):
        return None
    return (
        f"Job {job.name} has reached its backoffLimit of {limit}: "
        f"{replica.name} {describe_exit(end)}"
    )


def in_a_loop(replica: Replica, end: Exit) -> str | None:
    """Why it is of no use to start the replica once more; None while it may be."""
    if replica.short_lives <= SHORT_LIVES_LIMIT:
        return None
    return (
        f"{replica.name} was restarted {SHORT_LIVES_LIMIT} times in a row without "
        f"progress, each time for less than {SHORT_LIFE_SECONDS:g} s; "
        f"last it {describe_exit(end)}"
    )


def _counted(job: Job, limit: int) -> int:
    counted = 0
    for replica in job.replicas.values():
        in_place = replica.restart_policy in (specs.ON_FAILURE, specs.ALWAYS)
        if replica.state in (RUNNING, PENDING) and (in_place or limit == 0):
            counted += replica.restarts
    return counted
