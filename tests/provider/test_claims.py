"""A job's directory has one owner."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from provider import claims
from provider.kinds import ProviderError

Job = Callable[[str], Path]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Makes the state directory of a job, given as stack/job."""

    def make(name: str) -> Path:
        stack, _, job = name.partition("/")
        state = tmp_path / "state" / stack / "jobs" / job
        state.mkdir(parents=True, exist_ok=True)
        return state

    return make


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data/m"


def silent(_: str) -> None:
    pass


def test_an_ended_job_of_another_stack_keeps_its_directory(job: Job, directory: Path) -> None:
    claims.take(directory, job("one/m"), silent)
    told = claims.refusal(directory, job("two/m"))
    assert told is not None
    assert told.startswith(f"{directory} is in use by job m of stack one: destroy that one, or set")
    assert told.endswith(f"if that stack no longer exists, remove {directory}/.owner.json")
    with pytest.raises(ProviderError, match="in use by job m of stack one"):
        claims.take(directory, job("two/m"), silent)
    claims.leave(directory, job("one/m"))
    claims.take(directory, job("two/m"), silent)
    assert claims.refusal(directory, job("one/m")) is not None


def test_a_directory_inside_another_jobs_is_refused(job: Job, directory: Path) -> None:
    claims.take(directory, job("one/m"), silent)
    assert claims.refusal(directory / "inner", job("two/n")) is not None
    assert claims.refusal(directory.parent / "other", job("two/n")) is None


def test_by_any_spelling(job: Job, directory: Path, tmp_path: Path) -> None:
    claims.take(directory, job("one/m"), silent)
    (tmp_path / "linked").symlink_to(directory.parent)
    for spelling in (tmp_path / "linked/m", directory.parent / "../data/m"):
        assert claims.refusal(spelling, job("two/m")) is not None
        assert claims.refusal(spelling, job("one/m")) is None


def test_the_own_stack_may_have_it(job: Job, directory: Path) -> None:
    claims.take(directory, job("one/m"), silent)
    assert claims.refusal(directory, job("one/m")) is None
    assert claims.refusal(directory, job("one/renamed-job")) is None
    # A renamed stack knows where it was.
    assert claims.refusal(directory, job("renamed/m"), job("one/m")) is None


def test_a_stack_that_is_gone_owns_nothing(job: Job, directory: Path) -> None:
    claims.take(directory, job("one/m"), silent)
    shutil.rmtree(job("one/m"))
    assert claims.refusal(directory, job("two/m")) is None
    claims.take(directory, job("two/m"), silent)


def test_only_the_owner_gives_it_up(job: Job, directory: Path) -> None:
    claims.take(directory, job("one/m"), silent)
    claims.leave(directory, job("two/m"))
    assert claims.refusal(directory, job("two/m")) is not None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"state": 1}'])
def test_a_damaged_mark_marks_nothing(job: Job, directory: Path, content: str) -> None:
    directory.mkdir(parents=True)
    (directory / ".owner.json").write_text(content)
    assert claims.refusal(directory, job("one/m")) is None
