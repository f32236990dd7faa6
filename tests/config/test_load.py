"""The config as the engine hands it to a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]

PROGRAM = """
import sys
from pathlib import Path
from pulumi.runtime.settings import Settings, configure
import config
configure(Settings(project="ack-training", stack="local", dry_run=True))
try:
    stack = config.load(Path(sys.argv[1]))
except config.ConfigErrors as errors:
    print(errors)
else:
    for notice in stack.notices:
        print(notice)
    for job in stack.jobs.values():
        secret = sorted(name for name, value in job.env.items() if value.secret)
        print(job.name, job.program, job.counts, secret, job.opaque)
    print(stack.target, stack.storage.path, stack.tensorboard.enabled, sorted(stack.datasets))
"""


def load(folder: Path, values: dict[str, str], secret: tuple[str, ...] = ()) -> list[str]:
    """What a program prints that loads these values, as the language host passes them."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(PROJECT),
        "PULUMI_CONFIG": json.dumps(values),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(secret),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_what_is_right_and_secret(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    (tmp_path / "Pulumi.local.yaml").write_text(
        "config:\n  ack-training:jobs:\n    m: {program: ./train.py, master: {}, "
        "env: {PLAIN: text, TOKEN: {secure: v1:abc}}}\n"
    )
    job = {"program": "./train.py", "master": {}, "env": {"PLAIN": "text", "TOKEN": "hunter2"}}
    values = {
        "alicloud:region": "cn-hangzhou",
        "ack-training:target": "",
        "ack-training:tensorboard": "",
        "ack-training:storage": "null",
        "ack-training:jobs": json.dumps({"m": job}),
    }
    assert load(tmp_path, values, ("ack-training:jobs",)) == [
        "ack-training:jobs.m.master: read as chief, its name since TF 2",
        "m train.py {'chief': 1} ['TOKEN'] False",
        "local data True ['mnist']",
    ]


def test_everything_wrong_is_told_in_one_go(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "outside.py").symlink_to(sys.executable)
    jobs = {
        name: {"program": program, "chief": {"gpus": gpus}}
        for name, program, gpus in (
            ("a", "absent.py", 0.5),
            ("b", "folder.py", 0),
            ("c", "outside.py", 0),
        )
    }
    values = {
        "ack-training:jobs": json.dumps(jobs),
        "ack-training:tensorboard": "{not json",
        "ack-training:storag": "{}",
    }
    assert load(tmp_path, values) == [
        "ack-training:jobs.a.chief.gpus: must be a whole number of at least 0, got 0.5",
        "ack-training:jobs.a.program: no such file: 'absent.py'",
        "ack-training:jobs.b.program: no such file: 'folder.py'",
        "ack-training:jobs.c.program: 'outside.py' leads outside the project",
        "ack-training:storag: unknown key; did you mean storage?",
        "ack-training:tensorboard: must be a mapping, got '{not json'; write {enabled: true}",
    ]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("line.py", "; did you mean training/programs/line.py?"),
        ("training/programs/lines.py", "; did you mean training/programs/line.py?"),
        ("own/fast_tabel.py", "; did you mean own/fast_table.py?"),
        ("../line.py", ""),
        ("own/other.py", ""),
    ],
)
def test_a_program_like_the_one_that_is_not_there_is_named(
    tmp_path: Path, program: str, told: str
) -> None:
    for there in ("training/programs/line.py", "own/fast_table.py"):
        file = tmp_path / there
        file.parent.mkdir(parents=True)
        file.touch()
    values = {"ack-training:jobs": json.dumps({"m": {"program": program, "chief": {}}})}
    (line,) = load(tmp_path, values)
    assert line.startswith("ack-training:jobs.m.program: ")
    assert line.endswith(told)
    assert ("did you mean" in line) == bool(told)


def test_no_config_is_a_stack_without_jobs(tmp_path: Path) -> None:
    assert load(tmp_path, {}) == ["local data True ['mnist']"]


def test_a_misspelt_namespace_is_told_with_all_else_that_is_wrong(tmp_path: Path) -> None:
    values = {"ack-trainin:jobs": "{}", "ack-training:colour": "red", "alicloud:region": "x"}
    misspelt, unknown = load(tmp_path, values)
    assert misspelt == "ack-trainin:jobs: no such namespace; did you mean ack-training:jobs?"
    assert unknown.startswith("ack-training:colour:")
