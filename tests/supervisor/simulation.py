"""A case of the table run by the rules alone, with made-up time: no process runs here."""

from __future__ import annotations

from typing import NamedTuple

from supervisor import rules, spec
from supervisor.state import Exit, Job
from tests.supervisor.semantics import Case

BEGIN = 1000.0


class Event(NamedTuple):
    """A run of a replica began, or ended by itself with `code`."""

    replica: str
    code: int | None = None


def spec_of(case: Case) -> spec.Spec:
    replicas = [
        spec.Replica(role, int(index), ["true"], restart_policy=case.policy(role))
        for role, _, index in (name.rpartition("-") for name in case.runs)
    ]
    policy = spec.RunPolicy(case.backoff_limit, case.active_deadline_seconds, case.clean_pod_policy)
    return spec.Spec("job", "j", "g", "/", replicas, policy, case.success_policy)


def simulate(case: Case, until: float = 600.0) -> tuple[Job, list[Event]]:
    """Runs a case on a clock of tenths of a second until nothing would happen any more.

    Returns the job, and what happened to its replicas while it was not over.
    """
    given = spec_of(case)
    job, ends = rules.created(given, BEGIN), dict[str, float | None]()
    counts = dict.fromkeys(case.runs, 0)
    events: list[Event] = []
    for tenth in range(int(until * 10)):
        now = BEGIN + tenth / 10
        job = rules.ticked(job, given, now)
        for name in job.startable(now):
            seconds = case.runs[name][min(counts[name], len(case.runs[name]) - 1)][0]
            ends[name] = None if seconds is None else now + seconds
            job = rules.started(job, name, 1, now)
            counts[name] += 1
            events.append(Event(name))
        for name in job.running():
            end = ends[name]
            if job.replicas[name].stopping:
                job = rules.exited(job, given, name, Exit(143, 15), now)
            elif end is not None and now >= end:
                code = case.runs[name][min(counts[name], len(case.runs[name])) - 1][1]
                if not job.finished:
                    events.append(Event(name, code))
                job = rules.exited(job, given, name, Exit(code), now)
        if job.finished and not any(job.replicas[name].stopping for name in job.running()):
            break
    return job, events
