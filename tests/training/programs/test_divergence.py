"""A training that diverges ends with a sentence, saves nothing of it, and keeps what was good."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from runtime.progress import read_json, write_json

from tests.training.programs.conftest import StartJob
from tests.training.programs.replica_processes import ReplicaProcesses, run

DIVERGING = Path(__file__).with_name("diverging.py")
RUN = Path("trial/checkpoints/run-1")
EVERY = ["--checkpoint-every=10", "--log-every=10"]
HUGE_RATE = "--rate-after-30=1e30"
ADVICE = (
    r"Try a lower --learning-rate, look for missing or huge values in the data, or set `run: 2` to"
    r" train anew$"
)


def saved(directory: Path) -> list[int]:
    return sorted(int(path.stem.split("-")[1]) for path in (directory / RUN).glob("*.index"))


def test_json_never_holds_what_json_has_no_word_for(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_json(path, {"loss": float("nan"), "all": [float("inf"), 1.5], "deep": {"x": -1e999}})
    assert json.loads(path.read_text(), parse_constant=pytest.fail) == {
        "loss": None,
        "all": [None, 1.5],
        "deep": {"x": None},
    }


@pytest.mark.tensorflow
def test_alone_the_last_good_checkpoint_and_export_stay(tmp_path: Path) -> None:
    def train(*arguments: str) -> tuple[int, str]:
        program = str(DIVERGING)
        ended = run(tmp_path, *EVERY, *arguments, program=program, ACK_TRAINING_EXPORT="1")
        return ended.returncode, ended.stderr

    assert train("--steps=20") == (0, "")
    code, told = train("--steps=100", HUGE_RATE)
    assert code == 2
    assert re.fullmatch(
        r"diverging.py: training diverged: the loss of steps 31 to 40 is (nan|inf), of which"
        rf" nothing is saved or exported; the last good checkpoint is {tmp_path / RUN}/ckpt-30"
        rf" \(step 30\), from which the next start goes on\. {ADVICE}",
        told.strip(),
    )
    assert saved(tmp_path) == [10, 20, 30]
    assert [path.name for path in (tmp_path / "trial/export").iterdir()] == ["1"]
    progress = (tmp_path / "progress/chief-0.json").read_text()
    assert json.loads(progress, parse_constant=pytest.fail)["step"] == 40

    assert train("--steps=60") == (0, "")
    assert saved(tmp_path) == [20, 30, 40, 50, 60]
    assert not (tmp_path / RUN / "diverged.json").exists()


@pytest.mark.tensorflow
def test_weights_that_are_no_numbers_are_not_saved(tmp_path: Path) -> None:
    arguments = ["--steps=5", "--checkpoint-every=1", "--wrong-gradient"]
    ended = run(tmp_path, *arguments, program=str(DIVERGING))
    assert ended.returncode == 2, ended.stderr
    assert "weights are infinite or no numbers after step 1," in ended.stderr
    assert "there is no checkpoint before it. Try" in ended.stderr
    assert saved(tmp_path) == []


@pytest.mark.tensorflow
def test_a_model_that_fails_on_what_was_held_out_is_not_exported(tmp_path: Path) -> None:
    arguments = ["--steps=20", *EVERY, "--wrong-test"]
    ended = run(tmp_path, *arguments, program=str(DIVERGING), ACK_TRAINING_EXPORT="1")
    assert ended.returncode == 2, ended.stderr
    assert f"the loss of {tmp_path / RUN}/ckpt-20 on the held-out examples is nan" in ended.stderr
    assert f"goes on from {tmp_path / RUN}/ckpt-10 (step 10)" in ended.stderr
    assert re.search(ADVICE.removeprefix("Try"), ended.stderr.strip())
    assert not (tmp_path / "trial/export").exists()
    assert read_json(tmp_path / RUN / "result.json") == {}


def ends(job: ReplicaProcesses) -> dict[str, int]:
    return {name: process.wait(timeout=180) for name, process in job.processes.items()}


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "roles",
    [
        {"chief": 1, "worker": 1, "ps": 1, "evaluator": 1},
        {"chief": 1, "worker": 1, "evaluator": 1},
        {"worker": 2},
    ],
)
def test_every_replica_ends_and_the_leader_says_why(
    start_job: StartJob, roles: Mapping[str, int]
) -> None:
    job = start_job(roles, ["--steps=10000", *EVERY, HUGE_RATE], DIVERGING)
    assert ends(job) == dict.fromkeys(job.names, 2)
    leader = "chief-0" if "chief" in roles else "worker-0"
    last = job.log(leader).strip().splitlines()[-1]
    assert re.search(r"^diverging.py: training diverged: the loss of steps 31 to 4", last)
    assert re.search(ADVICE, last)
    assert saved(job.directory) == [10, 20, 30]
    for name in job.names:
        assert "Traceback" not in job.log(name)

    # What is left of it must not end the next start.
    job = start_job(roles, ["--steps=40", *EVERY], DIVERGING)
    job.run_to_end()
    assert job.result()["step"] >= 40
