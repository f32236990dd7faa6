"""A job's inputs → what its supervisor starts."""

from pathlib import Path
from typing import Any

import pytest

import config
from provider import place
from provider.job import Job
from provider.job_spec import job_spec
from provider.kinds import Call, ProviderError
from training.job_inputs import job_inputs

PROGRAM = "import os\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(PROGRAM)
    monkeypatch.setattr(place, "PROJECT", tmp_path)
    return tmp_path


def inputs(project: Path, **job: Any) -> dict[str, Any]:
    settings = {"program": "mine.py", "chief": {}, "worker": {"replicas": 2}, **job}
    stack = config.parse({"jobs": {"m": settings}}, project_directory=project)
    of_this_machine = {"storage": "data", "stateDirectory": ".ack-training/test"}
    return job_inputs(stack.jobs["m"], project, wait="succeeded") | of_this_machine


def ports(count: int) -> list[int]:
    return list(range(20000, 20000 + count))


def test_the_users_python_path_comes_after_the_runtimes(project: Path) -> None:
    spec = job_spec(inputs(project, env={"PYTHONPATH": "/mine"}), project / "state", ports)
    first, second = spec.replicas[0].environment["PYTHONPATH"].split(":")
    assert first.endswith("training/programs")
    assert second == "/mine"


def test_every_replica_runs_the_copy_of_the_program(project: Path) -> None:
    spec = job_spec(inputs(project, args=["--steps=5"]), project / "state", ports)
    copy = project / "state/code/mine.py"
    assert copy.read_text() == PROGRAM
    assert [replica.name for replica in spec.replicas] == ["chief-0", "worker-0", "worker-1"]
    for replica in spec.replicas:
        assert replica.command[1:] == ["-m", "runtime", str(copy), "--steps=5"]


def test_a_program_edited_since_the_preview_is_refused(project: Path) -> None:
    seen = inputs(project)
    (project / "mine.py").write_text("import sys\n")
    with pytest.raises(ProviderError, match=r"mine\.py was edited after the preview"):
        job_spec(seen, project / "state", ports)


def test_a_directory_that_leads_outside_is_refused(project: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (project / "data").mkdir()
    (project / "data/m").symlink_to(outside)
    with pytest.raises(ProviderError, match="leads outside the shared directory"):
        job_spec(inputs(project), project / "state", ports)


def test_a_directory_that_leads_outside_is_not_marked(project: Path) -> None:
    outside = project.parent / f"{project.name}-elsewhere"
    outside.mkdir()
    (project / "data").mkdir()
    (project / "data/m").symlink_to(outside)
    with pytest.raises(ProviderError, match="leads outside the shared directory"):
        Job().create(Call(inputs=inputs(project)))
    assert list(outside.iterdir()) == []
