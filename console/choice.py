"""Which job and which replica are meant: names that need not be written in full."""

from __future__ import annotations

from collections.abc import Sequence

_DECIDING = ("chief-0", "master-0", "worker-0")


TO_BE_MADE = "`pulumi up` makes it (after `pulumi refresh`, if it was deleted by hand)"
"""Of what the stack's file has and the cluster has not: what Pulumi has made and knows of is not
looked for by an `up` alone."""


class NotFoundError(Exception):
    """What was asked for is not there; the text says what is."""


def choose_job(jobs: Sequence[str], job: str | None) -> str:
    """`job` of the jobs. Where there is only one, it need not be named."""
    if job is None and len(jobs) == 1:
        return jobs[0]
    if job is None or job not in jobs:
        raise NotFoundError(f"JOB={job or ''}: {_choices(jobs)}")
    return job


def choose_replica(job: str, replicas: Sequence[str], replica: str | None) -> str:
    """`replica` of the job's; the one that decides the job where none is named."""
    if replica is None:
        replica = next((name for name in _DECIDING if name in replicas), None)
        replica = replica or (replicas[0] if len(replicas) == 1 else None)
    if replica not in replicas and f"{replica}-0" in replicas:
        # A role with one replica may be named by its role alone.
        replica = f"{replica}-0"
    if replica is None or replica not in replicas:
        raise NotFoundError(f"REPLICA={replica or ''} of {job}: {_choices(replicas)}")
    return replica


def _choices(names: Sequence[str]) -> str:
    return f"choose one of {', '.join(names)}" if names else "nothing has run yet"
