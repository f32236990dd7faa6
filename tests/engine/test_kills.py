"""kill -9 in the middle of a real training, while `up` waits for it: the job reaches its last step
from where it was."""

import os
import signal
from typing import Any

import pytest

from tests.engine.processes import running_under
from tests.engine.test_faults import supervisor_of, until
from tests.engine.test_life import stack
from tests.engine.training_jobs import (
    PATIENCE_SECONDS,
    await_checkpoint,
    kill_replicas,
    progress,
    result,
    status,
)
from tests.engine.workspace import Workspace

pytestmark = pytest.mark.tensorflow

STEPS = 500
PROGRAM: dict[str, Any] = {
    "program": "training/programs/mnist.py",
    "args": [f"--steps={STEPS}", "--checkpoint-every=20", "--log-every=20"],
}
PARAMETER_SERVER: dict[str, Any] = {
    **PROGRAM,
    "strategy": "parameterServer",
    "chief": {},
    "worker": {"replicas": 2},
    "ps": {"replicas": 2},
    "evaluator": {},
}
MIRRORED: dict[str, Any] = {
    **PROGRAM,
    "strategy": "multiWorkerMirrored",
    "chief": {},
    "worker": {"replicas": 2},
}
MODES = {"parameterServer": PARAMETER_SERVER, "multiWorkerMirrored": MIRRORED}


def settings(job: dict[str, Any]) -> dict[str, Any]:
    """A stack of this job, with its images."""
    declared = stack(hurt=job)
    return {**declared, "datasets": {"mnist": {}}}


def survive(workspace: Workspace, job: dict[str, Any], victims: list[str]) -> None:
    """`up` succeeds although the victims are killed at once, and each is started again."""
    workspace.configure(settings(job))
    up = workspace.start("up", "--yes", "--skip-preview")
    await_checkpoint(workspace, "hurt", up)
    kill_replicas(workspace, "hurt", victims)
    assert not status(workspace, "hurt").finished
    text, _ = up.communicate(timeout=PATIENCE_SECONDS)
    assert up.returncode == 0, text
    assert workspace.outputs()["jobs"]["hurt"]["state"] == "Succeeded"
    assert result(workspace, "hurt")["step"] >= STEPS


def restored_step(workspace: Workspace) -> int:
    """The step from which the chief, as it ended, had begun."""
    reached = progress(workspace, "hurt")
    assert reached is not None
    assert reached.step >= STEPS
    return reached.restored_step


def restarts(workspace: Workspace) -> dict[str, int]:
    return {name: found["restarts"] for name, found in status(workspace, "hurt").replicas.items()}


@pytest.mark.parametrize("victims", [["chief-0"], ["ps-1"]], ids="+".join)
def test_parameter_servers_resume_from_a_checkpoint(
    workspace: Workspace, victims: list[str]
) -> None:
    survive(workspace, PARAMETER_SERVER, victims)
    assert 0 < restored_step(workspace) < STEPS


@pytest.mark.parametrize(
    "victims", [["worker-0"], ["worker-0", "worker-1"], ["evaluator-0"]], ids="+".join
)
def test_parameter_servers_go_on_without(workspace: Workspace, victims: list[str]) -> None:
    survive(workspace, PARAMETER_SERVER, victims)
    # The chief and the servers hold the model: no step is trained twice.
    assert restored_step(workspace) == 0
    again = {name for name, count in restarts(workspace).items() if count}
    assert again == set(victims)


@pytest.mark.parametrize(
    "victims", [["chief-0"], ["worker-1"], ["worker-0", "worker-1"]], ids="+".join
)
def test_mirrored_workers_resume_from_one_checkpoint(
    workspace: Workspace, victims: list[str]
) -> None:
    survive(workspace, MIRRORED, victims)
    assert 0 < restored_step(workspace) < STEPS


def test_mirrored_workers_go_on_without_their_evaluator(workspace: Workspace) -> None:
    survive(workspace, {**MIRRORED, "evaluator": {}}, ["evaluator-0"])
    assert restored_step(workspace) == 0
    again = {name for name, count in restarts(workspace).items() if count}
    assert again == {"evaluator-0"}


@pytest.mark.parametrize("mode", MODES)
def test_a_killed_supervisor_takes_its_replicas_along_and_the_next_up_resumes(
    workspace: Workspace, mode: str
) -> None:
    workspace.configure(settings(MODES[mode]))
    up = workspace.start("up", "--yes", "--skip-preview")
    await_checkpoint(workspace, "hurt", up)
    os.kill(supervisor_of(workspace.state_of("jobs", "hurt")), signal.SIGKILL)
    text, _ = up.communicate(timeout=PATIENCE_SECONDS)
    assert up.returncode != 0
    assert "hurt: its supervisor was killed, and its replicas ended with it" in text
    assert "Traceback" not in text
    until(lambda: running_under(workspace.path) == [], PATIENCE_SECONDS)
    again = workspace.up()
    assert again.code == 0, again
    assert result(workspace, "hurt")["step"] >= STEPS
    assert 0 < restored_step(workspace) < STEPS


@pytest.mark.parametrize("mode", MODES)
def test_a_killed_worker_that_may_never_restart_fails_the_job(
    workspace: Workspace, mode: str
) -> None:
    worker = {"replicas": 2, "restartPolicy": "Never"}
    workspace.configure(settings({**MODES[mode], "worker": worker}))
    up = workspace.start("up", "--yes", "--skip-preview")
    await_checkpoint(workspace, "hurt", up)
    kill_replicas(workspace, "hurt", ["worker-1"])
    text, _ = up.communicate(timeout=PATIENCE_SECONDS)
    assert up.returncode != 0
    assert "hurt Failed: " in text
    assert "worker-1 exited with code 137" in text
    assert "Traceback" not in text
    assert status(workspace, "hurt").state == "Failed"
    until(lambda: running_under(workspace.path) == [], PATIENCE_SECONDS)
