"""Changes of a job that has trained: another size, another run, another model."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_life import stack
from tests.engine.training_jobs import (
    await_checkpoint,
    checkpoints_directory,
    contents,
    progress,
    result,
    status,
)
from tests.engine.workspace import Workspace

pytestmark = pytest.mark.tensorflow

STEPS = 900
RESIZED: dict[str, Any] = {
    "program": "training/programs/mnist.py",
    "args": [f"--steps={STEPS}", "--checkpoint-every=20", "--log-every=20"],
    "strategy": "parameterServer",
    "chief": {},
    "worker": {"replicas": 2},
    "ps": {},
}
ALONE: dict[str, Any] = {
    "program": "programs/mine.py",
    "args": ["--steps=40", "--checkpoint-every=20", "--log-every=20"],
    "chief": {},
}


def settings(**jobs: Any) -> dict[str, Any]:
    return {**stack(**jobs), "datasets": {"mnist": {}}}


def test_a_running_job_that_is_resized_resumes(workspace: Workspace) -> None:
    workspace.configure(settings(sized={**RESIZED, "wait": "running"}))
    first = workspace.up()
    assert first.code == 0, first
    assert workspace.outputs()["jobs"]["sized"]["state"] == "Running"
    await_checkpoint(workspace, "sized", None)
    workspace.configure(settings(sized={**RESIZED, "worker": {"replicas": 3}}))
    second = workspace.up()
    assert second.code == 0, second
    assert "worker 2 → 3: stopped and started again; training resumes" in second.text
    assert workspace.outputs()["jobs"]["sized"]["state"] == "Succeeded"
    reached = progress(workspace, "sized")
    assert reached is not None
    assert 0 < reached.restored_step < STEPS <= reached.step
    assert result(workspace, "sized")["step"] == reached.step
    assert "worker-2" in status(workspace, "sized").replicas


def own_program(workspace: Workspace, width: int) -> None:
    """The user's own copy of mnist.py with a hidden layer of this width."""
    folder = workspace.path / "programs"
    folder.mkdir(exist_ok=True)
    given = workspace.path / "training/programs"
    shutil.copy2(given / "mnist_files.py", folder)
    text = (given / "mnist.py").read_text()
    assert text.count("layers.Dense(64") == 1
    (folder / "mine.py").write_text(text.replace("layers.Dense(64", f"layers.Dense({width}"))


def test_another_run_trains_from_step_0_and_leaves_the_first_alone(workspace: Workspace) -> None:
    own_program(workspace, 64)
    workspace.configure(settings(mine=ALONE))
    first = workspace.up()
    assert first.code == 0, first
    assert result(workspace, "mine")["step"] == 40
    kept = contents(checkpoints_directory(workspace, "mine"))
    logs = contents(workspace.path / "data/mine/logs/chief/run-1")

    own_program(workspace, 32)
    workspace.configure(settings(mine={**ALONE, "run": 2}))
    second = workspace.up()
    assert second.code == 0, second
    assert (
        "run 1 → 2, program changed (mine.py): stopped and started again; trains anew from step 0"
        in second.text
    )
    assert result(workspace, "mine", run=2)["step"] == 40
    reached = progress(workspace, "mine")
    assert reached is not None
    assert reached.restored_step == 0
    assert contents(checkpoints_directory(workspace, "mine")) == kept
    assert contents(workspace.path / "data/mine/logs/chief/run-1") == logs


def test_a_checkpoint_that_does_not_fit_the_changed_model_is_refused(workspace: Workspace) -> None:
    own_program(workspace, 64)
    workspace.configure(settings(mine=ALONE))
    first = workspace.up()
    assert first.code == 0, first
    directory: Path = checkpoints_directory(workspace, "mine")
    kept = contents(directory)

    own_program(workspace, 32)
    longer = {**ALONE, "args": ["--steps=60", "--checkpoint-every=20", "--log-every=20"]}
    # Also where no step is left to train: it would be called a success of the new model.
    for job in (ALONE, longer):
        workspace.configure(settings(mine=job))
        refused = workspace.up()
        assert refused.code != 0, refused
        assert f"checkpoint {directory.resolve()}/ckpt-40 does not fit the program" in refused.text
        assert "in the checkpoint and of shape" in refused.text
        assert "set `run: 2` (a new number) to train anew" in refused.text
        assert "Traceback" not in refused.text
        assert contents(directory) == kept

    own_program(workspace, 64)
    mended = workspace.up()
    assert mended.code == 0, mended
    assert result(workspace, "mine")["step"] == 60
    reached = progress(workspace, "mine")
    assert reached is not None
    assert reached.restored_step == 40
