"""What a replica tells of its start, for whoever limits how long a start may take."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from supervisor.job_progress import read_replica_progress
from tests.training.programs.replica_processes import environment_of, run

TELLS = """
import json, os, sys
from pathlib import Path
path = Path(os.environ["ACK_TRAINING_PROGRESS_DIR"], "chief-0.json")
print(json.dumps([path.exists() and json.loads(path.read_text()), "tensorflow" in sys.modules]))
"""


def program(directory: Path, text: str) -> Path:
    path = directory / "program.py"
    path.write_text(text)
    return path


def told(directory: Path, text: str, *arguments: str) -> list[Any]:
    ended = run(directory, *arguments, program=str(program(directory, text)))
    assert ended.returncode == 0, ended.stderr
    found: list[Any] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize(
    "use", ["import runtime", "from runtime import Task", "import runtime.task"]
)
def test_the_start_is_told_before_the_program_runs(tmp_path: Path, use: str) -> None:
    text = f"{TELLS}\nsys.exit()\ndef later():\n    {use}\n"
    content, imported = told(tmp_path, text, "--mine=1", "--steps=70")
    assert not imported
    keys = {"role": "chief", "index": 0, "phase": "starting", "step": 0, "steps": 70}
    assert {key: content[key] for key in keys} == keys
    assert content["updatedAt"] > 0
    assert read_replica_progress(tmp_path / "progress", "chief-0") is not None


def test_of_a_program_without_the_runtime_nothing_is_told(tmp_path: Path) -> None:
    assert told(tmp_path, TELLS) == [False, False]


def test_train_tells_it_before_the_shared_directory_is_looked_at(tmp_path: Path) -> None:
    text = "from tabular import Tabular\nfrom runtime import train\ntrain(Tabular())\n"
    ended = subprocess.run(
        [sys.executable, str(program(tmp_path, text)), "--steps=30"],
        env=environment_of(tmp_path, ACK_TRAINING_RUN="none"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "ACK_TRAINING_RUN is 'none'" in ended.stderr
    progress = json.loads((tmp_path / "progress/chief-0.json").read_text())
    assert (progress["phase"], progress["steps"]) == ("starting", 30)
