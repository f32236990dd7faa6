"""The table, by what it is told."""

import pytest

from console import watch
from console.look import JobLook, Look, ReplicaLook
from supervisor.job_progress import JobProgress


class Standing:
    poll_seconds = 0.0

    def __init__(self, progress: JobProgress) -> None:
        chief = ReplicaLook("chief-0", "Running", 0, progress)
        self._look = Look((JobLook("m", "Running", replicas=(chief,), progress=progress),))

    def look(self) -> Look:
        return self._look


def progress(step: int, steps: int) -> JobProgress:
    return JobProgress("starting", step, steps, step, None, None, None, None, 0.0)


def shown(told: JobProgress, capsys: pytest.CaptureFixture[str]) -> str:
    watch.print_once(Standing(told))  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_steps_and_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(progress(1500, 2000), capsys)
    assert "1500/2000" in text
    assert "75%" in text


def test_a_replica_that_goes_on_and_has_not_told_to_where(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(progress(1500, 0), capsys)
    assert "1500" in text
    assert "1500/" not in text
    assert "%" not in text
