"""The rules alone, with made-up time: no process runs here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from supervisor import rules, spec
from supervisor.causes import first_failure
from supervisor.state import PENDING, RUNNING, Exit, Failure, Job
from tests.supervisor.semantics import CASES, LOCAL_CASES, Case
from tests.supervisor.simulation import BEGIN, simulate


@pytest.mark.parametrize("case", [*CASES, *LOCAL_CASES], ids=lambda case: case.name)
def test_a_job_ends_as_the_table_says(case: Case) -> None:
    job, _ = simulate(case)
    assert (job.state, job.reason) == (case.state, case.reason), job.message
    assert {n: job.replicas[n].restarts for n in case.restarts} == case.restarts
    assert {n: job.replicas[n].state for n in case.replica_states} == case.replica_states
    assert job.completion_time is not None
    conditions = {c.type: c.status for c in job.conditions}
    assert conditions[job.state] is True
    assert not conditions.get("Running")


def one(policy: str = spec.EXIT_CODE, **more: object) -> tuple[spec.Spec, Job]:
    given = spec.Spec(
        "job",
        "j",
        "g",
        "/",
        [spec.Replica("worker", 0, ["x"], restart_policy=policy)],
        spec.RunPolicy(**more),  # type: ignore[arg-type]
    )
    return given, rules.created(given, BEGIN)


def test_a_retried_exit_code_is_restarting_until_it_runs_again() -> None:
    given, job = one()
    states = [job.state]
    job = rules.started(job, "worker-0", 1, BEGIN)
    states.append(job.state)
    job = rules.exited(job, given, "worker-0", Exit(137, 9), BEGIN + 1)
    states.append(job.state)
    assert job.replicas["worker-0"].state == PENDING
    job = rules.started(job, "worker-0", 2, BEGIN + 1)
    states.append(job.state)
    assert states == ["Created", "Running", "Restarting", "Running"]
    assert "Restarting" not in {c.type for c in job.conditions}


def test_delays_double_up_to_the_longest_and_begin_anew_after_a_long_run() -> None:
    given, job = one(spec.ON_FAILURE)
    delays, now = [], BEGIN
    for lived in [1.0] * 8 + [60.0, 1.0]:
        job = rules.started(job, "worker-0", 1, now)
        now += lived
        job = rules.exited(job, given, "worker-0", Exit(1), now)
        delays.append(job.replicas["worker-0"].due_at - now)
        now = job.replicas["worker-0"].due_at
    assert delays == [0, 1, 2, 4, 8, 16, 30, 30, 0, 1]


def test_progress_makes_a_crash_loop_legitimate() -> None:
    given, job = one()
    now = BEGIN
    for step in range(30):
        job = rules.started(job, "worker-0", 1, now)
        job = rules.exited(job, given, "worker-0", Exit(138, progress=step * 100 + 1), now + 1)
        now = max(now + 1, job.replicas["worker-0"].due_at)
    assert job.state == "Restarting"
    assert job.replicas["worker-0"].restarts == 30


def test_suspend_forgets_the_past_and_resume_sets_the_start_time() -> None:
    given, job = one(active_deadline_seconds=10)
    job = rules.started(job, "worker-0", 1, BEGIN)
    job = rules.exited(job, given, "worker-0", Exit(138), BEGIN + 1)
    job = rules.started(job, "worker-0", 2, BEGIN + 1)
    job = rules.suspended(job, BEGIN + 5)
    assert job.replicas["worker-0"].stopping
    job = rules.exited(job, given, "worker-0", Exit(143, 15), BEGIN + 6)
    assert (job.state, job.replicas["worker-0"].restarts) == ("Suspended", 0)
    assert job.startable(BEGIN + 1000) == []
    job = rules.ticked(job, given, BEGIN + 1000)
    assert job.state == "Suspended"
    job = rules.resumed(job, BEGIN + 1000)
    assert job.start_time == BEGIN + 1000
    assert job.startable(BEGIN + 1000) == ["worker-0"]
    job = rules.started(job, "worker-0", 3, BEGIN + 1001)
    assert rules.ticked(job, given, BEGIN + 1009).state == "Running"
    assert rules.ticked(job, given, BEGIN + 1010).reason == "DeadlineExceeded"


def test_a_replica_resumed_before_it_ended_starts_again() -> None:
    given, job = one()
    job = rules.suspended(rules.started(job, "worker-0", 1, BEGIN), BEGIN + 1)
    job = rules.resumed(job, BEGIN + 2)
    assert job.startable(BEGIN + 2) == []
    job = rules.exited(job, given, "worker-0", Exit(143, 15), BEGIN + 3)
    assert job.startable(BEGIN + 3) == ["worker-0"]


def test_a_finished_job_is_neither_suspended_nor_stopped() -> None:
    given, job = one()
    job = rules.exited(
        rules.started(job, "worker-0", 1, BEGIN), given, "worker-0", Exit(0), BEGIN + 1
    )
    assert rules.suspended(job, BEGIN + 2) == job
    assert rules.stopped(job, "StopRequested", BEGIN + 2).state == "Succeeded"


def test_the_message_names_replica_code_signal_and_what_it_often_means() -> None:
    given, job = one(spec.NEVER)
    job = rules.exited(
        rules.started(job, "worker-0", 1, BEGIN), given, "worker-0", Exit(137, 9), BEGIN + 1
    )
    assert job.message == (
        "worker-0 exited with code 137: killed by signal 9 (SIGKILL), often out of memory"
    )


def failure(name: str, code: int, at: float) -> Failure:
    return Failure(name, code, None, at)


@pytest.mark.parametrize(
    ("failures", "cause"),
    [
        ([("a", 137, 0), ("b", 138, 3), ("c", 138, 5)], "a"),
        ([("b", 138, 0), ("a", 1, 4), ("c", 138, 5)], "a"),
        ([("b", 138, 0), ("a", 138, 4)], "b"),
        ([("a", 137, 0), ("b", 1, 100)], "b"),
        ([("b", 138, 0), ("c", 138, 9), ("a", 1, 18)], "b"),
    ],
)
def test_the_first_failure_is_the_cause(failures: list[tuple[str, int, float]], cause: str) -> None:
    found = first_failure(tuple(failure(*values) for values in failures))
    assert found is not None
    assert found.replica == cause


def test_replicas_that_are_ended_after_success_or_deadline_are_no_failures() -> None:
    given = spec.Spec(
        "job", "j", "g", "/", [spec.Replica("chief", 0, ["x"]), spec.Replica("worker", 0, ["x"])]
    )
    job = rules.created(given, BEGIN)
    for name in ("chief-0", "worker-0"):
        job = rules.started(job, name, 1, BEGIN)
    done = rules.exited(job, given, "chief-0", Exit(0), BEGIN + 1)
    assert rules.exited(done, given, "worker-0", Exit(138), BEGIN + 2).failures == ()
    late = rules.failed(job, given, "DeadlineExceeded", "late", BEGIN + 1)
    assert rules.exited(late, given, "worker-0", Exit(1), BEGIN + 2).failures == ()
    lost = rules.exited(job, given, "chief-0", Exit(138), BEGIN + 1)
    lost = rules.exited(lost, given, "worker-0", Exit(1), BEGIN + 2)
    cause = first_failure(lost.failures)
    assert cause is not None
    assert (lost.state, cause.replica) == ("Failed", "worker-0")


def test_no_failure_has_no_cause() -> None:
    assert first_failure(()) is None


def test_a_failed_job_stays_failed() -> None:
    given, job = one(spec.NEVER)
    job = rules.exited(
        rules.started(job, "worker-0", 1, BEGIN), given, "worker-0", Exit(3), BEGIN + 1
    )
    again = rules.exited(replace(job), given, "worker-0", Exit(0), BEGIN + 2)
    assert (again.state, again.reason) == ("Failed", "ReplicaFailed")
    assert job.replicas["worker-0"].state != RUNNING
