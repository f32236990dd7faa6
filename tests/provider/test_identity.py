"""When two sets of inputs are the same running job."""

import stat
from pathlib import Path
from typing import Any

import pytest

from provider import place
from provider.identity import digest, job_generation


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(place, "PROJECT", tmp_path)
    return tmp_path


def inputs(**changes: Any) -> dict[str, Any]:
    return {"name": "m", "stateDirectory": ".state", "args": ["--steps=5"], **changes}


def test_what_changes_in_place_is_no_part_of_it() -> None:
    same = inputs(suspend=True, wait="running", waitTimeoutSeconds=5)
    assert job_generation(inputs()) == job_generation(same) == digest(inputs())
    assert job_generation(inputs()) != job_generation(inputs(args=[]))


def test_a_secret_is_part_of_it_and_cannot_be_guessed_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = inputs(secretEnvironment={"T": "a"}), inputs(secretEnvironment={"T": "b"})
    assert job_generation(one) == job_generation(one)
    assert len({job_generation(it) for it in (one, other, inputs())}) == 3
    assert digest(one) == digest(other) == digest(inputs())
    # Another stack's key gives another one, so that a list of guesses tells nothing.
    here = job_generation(one)
    monkeypatch.setattr(place, "PROJECT", tmp_path / "elsewhere")
    assert job_generation(one) != here


def test_the_key_is_for_this_user_alone(project: Path) -> None:
    job_generation(inputs(secretEnvironment={"T": "a"}))
    (key,) = (project / ".state").iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE((project / ".state").stat().st_mode) == 0o700


def test_without_secrets_nothing_is_written(project: Path) -> None:
    job_generation(inputs())
    assert list(project.iterdir()) == []
