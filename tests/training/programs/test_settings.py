"""Flags and environment of a replica."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from runtime.errors import ReplicaError
from runtime.flags import parse_flags, program_flags, steps_asked
from runtime.settings import read_settings


def no_flags(parser: argparse.ArgumentParser) -> None:
    """A program without flags of its own."""


def own_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hidden", type=int, default=8)


def test_a_program_adds_flags_to_those_of_the_runtime() -> None:
    options = parse_flags("p.py", ["--steps=30", "--hidden", "4"], own_flags)
    assert (options.steps, options.hidden) == (30, 4)


def test_the_largest_seed_is_taken() -> None:
    assert parse_flags("p.py", ["--seed=4294967295"], no_flags).seed == 2**32 - 1


def test_steps_are_known_before_the_flags_of_the_program_are() -> None:
    assert steps_asked(["--hidden", "4", "--steps=30", "--deep"]) == 30
    assert steps_asked([]) == 2000
    assert steps_asked(["--steps=many"]) == 0


def test_flags_of_the_program_are_told_from_the_runtimes() -> None:
    options = parse_flags("p.py", ["--steps=30", "--hidden=4"], own_flags)
    assert program_flags(options) == {"hidden": 4}


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--stpes=30", "--stpes is no flag of this program; did you mean --steps?"),
        ("--hiden=4", "did you mean --hidden?"),
        ("--step=30", "did you mean --steps?"),
        ("--zzz", "--help lists the flags"),
        ("extra", "extra is no flag"),
        ("--steps=0", "argument --steps: '0' is not a whole number from 1 up"),
        ("--steps=1.5", "'1.5' is not a whole number"),
        ("--steps=", "'' is not a whole number"),
        ("--seed=4294967296", "'4294967296' is too large: the most is 4294967295"),
        ("--steps=2147483648", "is too large: the most is 2147483647"),
        ("--batch-size=2147483648", "is too large: the most is 2147483647"),
        ("--checkpoint-every=99999999999", "is too large: the most is 2147483647"),
        ("--evaluate-every=2147483648", "is too large: the most is 2147483647"),
        ("--log-every=" + "9" * 5000, "is too large: the most is 2147483647"),
        ("--batch-size=-1", "'-1' is not a whole number from 1 up"),
        ("--learning-rate=0", "'0' is not a number above 0"),
        ("--learning-rate=nan", "'nan' is not a number above 0"),
        ("--idle-timeout=inf", "'inf' is not a number above 0"),
        ("--hidden=x", "argument --hidden: invalid int value: 'x'"),
    ],
)
def test_a_wrong_flag_is_told_in_one_line(argument: str, message: str) -> None:
    with pytest.raises(ReplicaError) as caught:
        parse_flags("p.py", [argument], own_flags)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.code == 2


def test_there_is_no_flag_for_where_checkpoints_go() -> None:
    with pytest.raises(ReplicaError, match="no flag"):
        parse_flags("p.py", ["--checkpoint-dir=/elsewhere"], no_flags)


def test_paths_follow_from_the_environment(tmp_path: Path) -> None:
    settings = read_settings(
        {"ACK_TRAINING_JOB_DIR": str(tmp_path), "ACK_TRAINING_RUN": "3"}, None, None
    )
    assert settings.checkpoints_dir == tmp_path / "checkpoints" / "run-3"
    assert settings.logs_dir("worker-1") == tmp_path / "logs" / "worker-1" / "run-3"
    assert settings.export_dir == tmp_path / "export"
    assert settings.job == tmp_path.name
    assert not settings.export


def test_run_by_hand_the_directory_is_a_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = read_settings({}, "trial", None)
    assert settings.job_dir == tmp_path / "trial"
    assert settings.datasets_dir == tmp_path / "data" / "datasets"


@pytest.mark.parametrize(
    ("environment", "job_dir", "message"),
    [
        ({}, None, "--job-dir is missing"),
        ({}, "", "--job-dir is empty"),
        ({"ACK_TRAINING_JOB_DIR": "/a"}, "b", "--job-dir cannot be given here"),
        ({"ACK_TRAINING_JOB_DIR": "a"}, None, "not an absolute path"),
        ({"ACK_TRAINING_RUN": "0"}, "b", "ACK_TRAINING_RUN is '0'"),
        ({"ACK_TRAINING_RUN": "two"}, "b", "ACK_TRAINING_RUN is 'two'"),
        ({"ACK_TRAINING_EXPORT": "yes"}, "b", "ACK_TRAINING_EXPORT is 'yes', not 0 or 1"),
        ({"ACK_TRAINING_START_TIMEOUT": "0"}, "b", "ACK_TRAINING_START_TIMEOUT is '0'"),
        ({"ACK_TRAINING_START_TIMEOUT": "5m"}, "b", "ACK_TRAINING_START_TIMEOUT is '5m'"),
    ],
)
def test_a_wrong_environment_is_told_in_one_line(
    environment: dict[str, str], job_dir: str | None, message: str
) -> None:
    with pytest.raises(ReplicaError) as caught:
        read_settings(environment, job_dir, None)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_checkpoints_cannot_lead_out_of_the_job_directory(tmp_path: Path) -> None:
    job_dir, elsewhere = tmp_path / "job", tmp_path / "elsewhere"
    job_dir.mkdir()
    elsewhere.mkdir()
    (job_dir / "checkpoints").symlink_to(elsewhere)
    with pytest.raises(ReplicaError, match="outside the job's directory"):
        read_settings({"ACK_TRAINING_JOB_DIR": str(job_dir)}, None, None)
