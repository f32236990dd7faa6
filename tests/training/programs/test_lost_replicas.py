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
