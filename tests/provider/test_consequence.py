"""The sentence on what a changed job means."""

import json
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
}
RESUMES = "stopped and started again; training resumes from its last checkpoint"


def sentence(**changes: Any) -> str:
    new = {**OLD, **changes}
    return replacement(Call(inputs=new, old_inputs=OLD), list(changed_paths(OLD, new)))


@pytest.fixture(autouse=True)
def progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(place, "PROJECT", tmp_path)
    directory = tmp_path / ".ack-training/test/jobs/m/progress"
    directory.mkdir(parents=True)
    return directory


def reach(progress: Path, step: int) -> None:
    content = {"phase": "training", "step": step, "steps": 100, "updatedAt": 1}
    (progress / "chief-0.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"args": ["--steps=200"]}, "args changed"),
        ({"code": {"mine.py": "2"}}, "mine.py changed"),
        ({"code": {"mine.py": "2"}, "args": []}, "args, mine.py changed"),
        (
            {"roles": {**OLD["roles"], "worker": {"replicas": 3, "gpus": 0}}},
            "worker 2 → 3",
        ),
        ({"roles": {"chief": OLD["roles"]["chief"]}}, "worker 2 → 0"),
        (
            {"roles": {**OLD["roles"], "worker": {"replicas": 3, "gpus": 1}}},
            "worker 2 → 3, roles",
        ),
    ],
)
def test_what_changed_is_named(changes: dict[str, Any], what: str) -> None:
    assert sentence(**changes) == f"{what}: {RESUMES}"


def test_how_far_it_was_is_told(progress: Path) -> None:
    reach(progress, 40)
    assert sentence(args=[]).endswith("(step 40 of 100 was reached)")


def test_a_job_that_has_nothing_left_to_train_says_so(progress: Path) -> None:
    reach(progress, 100)
    assert sentence(args=[]).endswith("its last step, 100: more --steps or `run: 2` train on")


def test_a_new_run_starts_from_nothing() -> None:
    assert sentence(run=2) == (
        "run 1 → 2: trains anew from step 0; the checkpoints of run 1 are kept"
    )


def test_another_directory_is_no_resume() -> None:
    assert "training starts from what data/other holds" in sentence(directory="other")
