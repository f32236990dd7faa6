"""kill -9 of a replica in the middle of training: the job still reaches its last step."""

from __future__ import annotations

import re

import pytest

from tests.training.programs.conftest import StartJob
from tests.training.programs.replica_processes import ReplicaProcesses

pytestmark = pytest.mark.tensorflow

ARGUMENTS = ["--steps=500", "--checkpoint-every=50", "--log-every=50"]
PARAMETER_SERVER = {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1}
MULTI_WORKER = {"chief": 1, "worker": 2}


def kill_in_the_middle(job: ReplicaProcesses, *names: str) -> None:
    job.run_until(lambda: job.progress("chief-0")["step"] >= 100)
    job.kill(*names)
    job.run_to_end()
    assert all(job.codes[name][0] == -9 for name in names)
    assert job.result()["step"] >= 500


@pytest.mark.parametrize("killed", [["chief-0"], ["ps-1"]])
def test_parameter_server_job_restores_after_losing_chief_or_ps(
    start_job: StartJob, killed: list[str]
) -> None:
    job = start_job(PARAMETER_SERVER, ARGUMENTS)
    kill_in_the_middle(job, *killed)
    assert job.progress("chief-0")["restoredStep"] >= 50
    assert job.codes["worker-0"] == job.codes["worker-1"] == [0]


@pytest.mark.parametrize("killed", [["worker-0"], ["worker-0", "worker-1"], ["evaluator-0"]])
def test_parameter_server_job_goes_on_without_worker_or_evaluator(
    start_job: StartJob, killed: list[str]
) -> None:
    job = start_job(PARAMETER_SERVER, ARGUMENTS)
    kill_in_the_middle(job, *killed)
    assert job.codes["chief-0"] == [0]
    assert f"evaluation at step {job.result()['step']}" in job.log("evaluator-0")


@pytest.mark.parametrize("killed", ["chief-0", "worker-1"])
def test_multi_worker_job_restores_after_losing_one(start_job: StartJob, killed: str) -> None:
    job = start_job(MULTI_WORKER, ARGUMENTS)
    kill_in_the_middle(job, killed)
    restored = {name: job.progress(name)["restoredStep"] for name in job.names}
    assert len(set(restored.values())) == 1 and restored["chief-0"] >= 50
    for name in set(job.names) - {killed}:
        assert job.codes[name] == [138, 0]
        assert re.search(rf"^mnist.py: lost .*{killed} ", job.log(name), re.MULTILINE)
