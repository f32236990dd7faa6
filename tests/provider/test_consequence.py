"""The sentence on what a changed job means."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from provider import place
from provider.compare import changed_paths
from provider.consequence import replacement
from provider.kinds import Call

OLD: dict[str, Any] = {
    "name": "m",
    "run": 1,
    "program": "mine.py",
    "code": {"mine.py": "1"},
    "args": ["--steps=100"],
    "roles": {"chief": {"replicas": 1, "gpus": 0}, "worker": {"replicas": 2, "gpus": 0}},
    "storage": "data",
    "directory": "m",
    "stateDirectory": ".ack-training/test",
    "runPolicy": {"activeDeadlineSeconds": None},
}
RESUMES = "stopped and started again; training resumes from its last checkpoint"


ADDED = "args − --steps=100, args + --a, args + --b, args + --c, and 3 more of args"


def sized(**size: Any) -> dict[str, Any]:
    """Of each worker."""
    return {"roles": {**OLD["roles"], "worker": {"replicas": 2, "gpus": 0, **size}}}


def sentence(**changes: Any) -> str:
    new = {**OLD, **changes}
    return replacement(Call(inputs=new, old_inputs=OLD), list(changed_paths(OLD, new)))


@pytest.fixture(autouse=True)
def progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(place, "PROJECT", tmp_path)
    directory = tmp_path / ".ack-training/test/jobs/m/progress"
    directory.mkdir(parents=True)
    return directory


@pytest.fixture(autouse=True)
def checkpoints(tmp_path: Path) -> Path:
    directory = tmp_path / "data/m/checkpoints"
    save(directory, run=1, step=20)
    return directory


def save(checkpoints: Path, run: int, step: int) -> None:
    directory = checkpoints / f"run-{run}"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"ckpt-{step}.index").touch()


def reach(progress: Path, step: int, steps: int = 100) -> None:
    content = {"phase": "training", "step": step, "steps": steps, "updatedAt": 1}
    (progress / "chief-0.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"args": ["--steps=200"]}, "args --steps=100 → --steps=200"),
        ({"args": ["--steps", "200"]}, "args --steps=100 → --steps 200"),
        ({"args": ["--steps=100", "-v"]}, "args + -v"),
        ({"args": ["--name=" + "x" * 50]}, f"args − --steps=100, args + --name={'x' * 32}…"),
        ({"code": {"mine.py": "2"}}, "program changed (mine.py)"),
        ({"code": {"mine.py": "2"}, "args": []}, "args − --steps=100, program changed (mine.py)"),
        ({"program": "other.py"}, "program mine.py → other.py"),
        ({"image": "a:1"}, "image none → a:1"),
        ({"image": "r" * 40 + ":2"}, f"image none → …{'r' * 37}:2"),
        ({"export": True}, "export none → true"),
        (
            {"roles": {**OLD["roles"], "worker": {"replicas": 3, "gpus": 0}}},
            "worker 2 → 3",
        ),
        ({"roles": {"chief": OLD["roles"]["chief"]}}, "worker 2 → 0"),
        (
            {"roles": {**OLD["roles"], "worker": {"replicas": 3, "gpus": 1}}},
            "worker 2 → 3, worker gpus 0 → 1",
        ),
        (
            sized(cpu="1", shm="1Gi", nodePool="a10", tolerations=[{"key": "x"}]),
            "worker cpu none → 1, worker shm none → 1Gi, worker nodePool none → a10, "
            "worker tolerations changed",
        ),
        ({"args": ["--a", "--b", "--c", "--d", "--e", "--f"]}, ADDED),
    ],
)
def test_what_changed_is_named(changes: dict[str, Any], what: str) -> None:
    assert sentence(**changes) == f"{what}: {RESUMES}"


def test_how_far_it_was_is_told(progress: Path) -> None:
    reach(progress, 40)
    assert sentence(args=[]).endswith("(step 40 of 100 was reached)")


def test_a_job_that_has_nothing_left_to_train_says_so(progress: Path) -> None:
    reach(progress, 100)
    assert sentence(args=[]).endswith(
        "its last step, 100: to train more, raise --steps or set `run: 2`"
    )


@pytest.mark.parametrize("args", [["--steps=200"], ["--seed=1", "--steps", "200"]])
def test_more_steps_are_told(progress: Path, args: list[str]) -> None:
    reach(progress, 100)
    assert sentence(args=args).endswith(
        ": stopped and started again; training resumes from its last checkpoint and goes on from "
        "step 100 to 200"
    )


def test_without_a_checkpoint_training_starts_from_nothing(
    progress: Path, checkpoints: Path
) -> None:
    shutil.rmtree(checkpoints)
    assert sentence(args=[]).endswith("started again; training starts from step 0")
    reach(progress, 0)
    assert sentence(args=[]).endswith("training starts from step 0: there is no checkpoint yet")


def test_an_earlier_run_goes_on(checkpoints: Path) -> None:
    save(checkpoints, run=3, step=90)
    save(checkpoints, run=3, step=1000)
    assert sentence(run=3) == (
        "run 1 → 3: stopped and started again; goes on with run 3 from its checkpoint of step "
        "1000; the checkpoints of run 1 are kept"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"runPolicy": {"activeDeadlineSeconds": 5400}}, "deadline none → 90m"),
        (
            {"runPolicy": {"activeDeadlineSeconds": None, "backoffLimit": 0}},
            "backoffLimit none → 0",
        ),
        ({"startTimeoutSeconds": 5}, "startTimeout none → 5s"),
    ],
)
def test_a_key_is_called_as_the_file_calls_it(changes: dict[str, Any], said: str) -> None:
    assert sentence(**changes).startswith(f"{said}: ")


def test_of_variables_only_names_are_told() -> None:
    old = {
        **OLD,
        "environment": {"A": "plain-a", "B": "plain-b"},
        "secretEnvironment": {"S": "secret-s", "T": "secret-t"},
    }
    new = {
        **OLD,
        "environment": {"B": "plain-2", "C": "plain-c"},
        "secretEnvironment": {"T": "secret-2"},
    }
    call = Call(inputs=new, old_inputs=old)
    said = replacement(call, list(changed_paths(old, new)))
    assert said.startswith("env − A, env B changed, env + C, env − S, env T changed: ")
    assert "plain" not in said
    assert "secret" not in said


def test_arguments_that_are_secret_are_not_told() -> None:
    old = {**OLD, "opaque": True, "command": ["--token=one"]}
    new = {**old, "args": ["--token=two"], "command": ["x"]}
    call = Call(inputs=new, old_inputs=old)
    said = replacement(call, list(changed_paths(old, new)))
    assert said.startswith("args changed, command changed: ")


def test_a_change_that_no_input_tells_is_still_told() -> None:
    assert sentence().startswith("its specification changed (`pulumi preview --diff` shows how): ")


def test_a_new_run_starts_from_nothing() -> None:
    assert sentence(run=2) == (
        "run 1 → 2: stopped and started again; trains anew from step 0; the checkpoints of run 1 "
        "are kept"
    )


def test_another_directory_is_no_resume() -> None:
    assert "training starts from what data/other holds" in sentence(directory="other")
