"""kill -9 of replicas in the middle of training: the job still reaches its last step."""

from __future__ import annotations

import re

import pytest

from tests.training.programs.conftest import StartJob
from tests.training.programs.replica_processes import ReplicaProcesses

pytestmark = pytest.mark.tensorflow

STEPS = 800
ARGUMENTS = [f"--steps={STEPS}", "--checkpoint-every=50", "--log-every=50"]
PARAMETER_SERVER = {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1}
MULTI_WORKER = {"chief": 1, "worker": 2}


def kill_at(job: ReplicaProcesses, step: int, *names: str) -> None:
    """Replicas were killed once the chief trained past `step`, and are running again."""
    job.run_until(lambda: job.progress("chief-0")["step"] >= step)
    assert job.progress("chief-0")["step"] < STEPS
    ends = {name: len(job.codes[name]) for name in names}
    job.kill(*names)
    job.run_until(lambda: all(len(job.codes[name]) > ends[name] for name in names))


def test_parameter_servers_go_on_without_workers_or_evaluator(start_job: StartJob) -> None:
    job = start_job(PARAMETER_SERVER, ARGUMENTS)
    kill_at(job, 50, "worker-0", "evaluator-0")
    kill_at(job, 100, "worker-0", "worker-1")
    job.run_to_end()
    assert job.codes["worker-0"] == [-9, -9, 0]
    assert job.codes["worker-1"] == job.codes["evaluator-0"] == [-9, 0]
    # The chief and the servers went on: no step was trained from a checkpoint.
    assert job.codes["chief-0"] == job.codes["ps-0"] == job.codes["ps-1"] == [0]
    assert job.result()["step"] >= STEPS
    assert f"evaluation at step {job.result()['step']}" in job.log("evaluator-0")


def test_parameter_servers_restore_after_losing_a_ps_and_the_chief(start_job: StartJob) -> None:
    job = start_job(PARAMETER_SERVER, ARGUMENTS)
    kill_at(job, 100, "ps-1")
    # Its own end, for without a server there is no model.
    job.run_until(lambda: job.progress("chief-0")["restoredStep"] >= 50)
    assert job.codes["chief-0"] == [138]
    assert re.search(r"^mnist.py: lost .*ps-1 ", job.log("chief-0"), re.MULTILINE)
    restored = job.progress("chief-0")["restoredStep"]
    kill_at(job, restored + 100, "chief-0")
    job.run_to_end()
    assert job.codes["chief-0"] == [138, -9, 0]
    assert job.progress("chief-0")["restoredStep"] > restored
    assert job.codes["worker-0"] == job.codes["worker-1"] == job.codes["ps-0"] == [0]
    assert job.result()["step"] >= STEPS


def gone_without_chief(job: ReplicaProcesses) -> list[str]:
    """The chief was killed and not started again; the servers whose pids must stay have seen it."""
    job.run_until(lambda: job.progress("chief-0")["step"] >= 100)
    servers = ["worker-0", "ps-0"]
    job.kill("chief-0")
    job.processes.pop("chief-0").wait()
    job.run_until(
        lambda: all("chief-0 (127.0.0.1:" in job.log(name) for name in servers), limit_seconds=60
    )
    return servers


def test_servers_renew_themselves_for_the_next_chief(start_job: StartJob) -> None:
    job = start_job({"chief": 1, "worker": 1, "ps": 1}, ARGUMENTS)
    servers = gone_without_chief(job)
    pids = {name: job.processes[name].pid for name in servers}
    job.start("chief-0")
    job.run_until(lambda: job.progress("chief-0")["restoredStep"] >= 50)
    assert pids == {name: job.processes[name].pid for name in servers}
    job.run_to_end()
    assert job.codes["worker-0"] == job.codes["ps-0"] == [0]
    for name in servers:
        assert job.log(name).count("is gone: waiting for it anew") == 1
        assert job.progress(name)["phase"] == "done"


def test_servers_whose_chief_stays_away_count_it_as_lost(start_job: StartJob) -> None:
    job = start_job({"chief": 1, "worker": 1, "ps": 1}, ARGUMENTS, ACK_TRAINING_START_TIMEOUT="45")
    for name in gone_without_chief(job):
        assert job.progress(name)["phase"] == "training"
        assert job.processes[name].wait(timeout=120) == 138
        assert re.search(
            r"^mnist.py: lost chief-0 \(.*\): it did not answer for 45 s$", job.log(name), re.M
        )


def test_workers_restore_one_step_after_losing_one_of_them_and_the_chief(
    start_job: StartJob,
) -> None:
    job = start_job(MULTI_WORKER, ARGUMENTS)
    kill_at(job, 100, "worker-1")
    job.run_until(lambda: job.progress("chief-0")["restoredStep"] >= 50)
    restored = job.progress("chief-0")["restoredStep"]
    survivors = ["chief-0", "worker-0"]
    assert all(job.codes[name] == [138] for name in survivors)
    told = "\n".join(job.log(name) for name in survivors)
    assert re.search(r"^mnist.py: lost .*worker-1 ", told, re.MULTILINE)
    kill_at(job, restored + 100, "chief-0")
    job.run_to_end()
    assert job.result()["step"] == STEPS
    steps = {job.progress(name)["restoredStep"] for name in job.names}
    assert len(steps) == 1 and steps.pop() > restored
