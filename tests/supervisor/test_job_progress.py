"""What progress files tell."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from supervisor.job_progress import hangs_in_start, highest_step, read_progress


def write(directory: Path, name: str, **changes: Any) -> None:
    now = time.time()
    content = {"phase": "training", "step": 0, "steps": 100, "updatedAt": now, **changes}
    (directory / f"{name}.json").write_text(json.dumps(content))


def test_the_chief_counts_and_else_worker_zero(tmp_path: Path) -> None:
    assert read_progress(tmp_path) is None
    write(tmp_path, "worker-0", step=3)
    found = read_progress(tmp_path)
    assert found is not None
    assert found.step == 3
    write(tmp_path, "chief-0", step=5)
    found = read_progress(tmp_path)
    assert found is not None
    assert found.step == 5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"step": 1}',
        '{"step": "x"}',
        '{"phase": "training", "step": Infinity, "steps": 1, "updatedAt": 1}',
        '{"phase": "training", "step": NaN, "steps": 1, "updatedAt": 1}',
    ],
)
def test_a_half_written_file_is_no_progress(tmp_path: Path, text: str) -> None:
    (tmp_path / "chief-0.json").write_text(text)
    assert read_progress(tmp_path) is None
    assert highest_step(tmp_path) is None
    assert not hangs_in_start(tmp_path, "chief-0", 0.0)


@pytest.mark.parametrize("loss", ["0.5", None, [], float("nan"), float("inf"), True])
def test_what_is_no_number_is_left_out_of_the_sentence(tmp_path: Path, loss: object) -> None:
    write(tmp_path, "chief-0", step=7, loss=loss, accuracy=0.5)
    found = read_progress(tmp_path)
    assert found is not None
    assert found.sentence() == "step 7 of 100, accuracy 0.500"


def test_the_highest_step_is_that_of_any_replica(tmp_path: Path) -> None:
    assert highest_step(tmp_path / "absent") is None
    write(tmp_path, "chief-0", step=3)
    write(tmp_path, "worker-1", step=5)
    (tmp_path / "worker-2.json").write_text("{")
    assert highest_step(tmp_path) == 5


def test_only_a_fresh_word_that_it_starts_is_a_hang(tmp_path: Path) -> None:
    now = time.time()
    write(tmp_path, "chief-0", phase="starting")
    assert hangs_in_start(tmp_path, "chief-0", now)
    # The file is of the process before.
    assert not hangs_in_start(tmp_path, "chief-0", now + 60)
    assert not hangs_in_start(tmp_path, "worker-0", now)
    write(tmp_path, "chief-0", phase="training")
    assert not hangs_in_start(tmp_path, "chief-0", now)


def test_the_time_left_follows_the_pace_since_training_began(tmp_path: Path) -> None:
    now = time.time()
    write(tmp_path, "chief-0", step=60, restoredStep=20, trainingSince=now - 80, updatedAt=now)
    found = read_progress(tmp_path)
    assert found is not None
    # 40 steps took 80 s, and 40 are left.
    assert found.seconds_left() in (79, 80)


def test_there_is_no_time_left_before_there_is_a_pace(tmp_path: Path) -> None:
    write(tmp_path, "chief-0", step=20, restoredStep=20, trainingSince=time.time())
    found = read_progress(tmp_path)
    assert found is not None
    assert found.seconds_left() is None


@pytest.mark.parametrize(("step", "quarter"), [(0, 0), (24, 0), (25, 1), (99, 3), (100, 4)])
def test_quarters(tmp_path: Path, step: int, quarter: int) -> None:
    write(tmp_path, "chief-0", step=step)
    found = read_progress(tmp_path)
    assert found is not None
    assert found.quarter() == quarter
