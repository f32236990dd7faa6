"""What is wrong is told in one line, before TensorFlow is loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.training.programs.replica_processes import PROGRAMS, environment_of

# Stands before the real TensorFlow on the path: a program that is refused must not get to it.
NO_TENSORFLOW = 'raise SystemExit("tensorflow was imported")\n'


@pytest.fixture
def fails(tmp_path: Path) -> object:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for module in ("tensorflow", "keras"):
        (blocked / f"{module}.py").write_text(NO_TENSORFLOW)

    def run(arguments: Sequence[str], **variables: str) -> str:
        variables.setdefault("PYTHONPATH", f"{blocked}:{PROGRAMS}")
        ended = subprocess.run(
            [sys.executable, *arguments],
            env=environment_of(tmp_path, **variables),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert ended.returncode == 2, ended.stderr
        assert ended.stdout == ""
        assert len(ended.stderr.splitlines()) == 1
        return ended.stderr

    return run


MNIST = str(PROGRAMS / "mnist.py")


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        (["-m", "runtime"], {}, "usage: python -m runtime program.py"),
        (["-m", "runtime", "nothing.py"], {}, "there is no program nothing.py"),
        (["-m", "runtime", MNIST, "--stpes=3"], {}, "did you mean --steps?"),
        ([MNIST, "--stpes=3"], {}, "mnist.py: --stpes is no flag"),
        ([MNIST], {"ACK_TRAINING_JOB_DIR": ""}, "--job-dir is missing"),
        (["-m", "runtime", MNIST], {"TF_CONFIG": "{"}, "mnist.py: TF_CONFIG is not JSON"),
        ([MNIST], {"TF_CONFIG": "{"}, "mnist.py: TF_CONFIG is not JSON"),
        (["-m", "runtime", MNIST], {"ACK_TRAINING_RUN": "x"}, "ACK_TRAINING_RUN is 'x'"),
        (["-m", "runtime", MNIST], {"KERAS_BACKEND": "jax"}, "mnist.py: KERAS_BACKEND is 'jax'"),
        ([MNIST], {"KERAS_BACKEND": "torch"}, "mnist.py: KERAS_BACKEND is 'torch'"),
        ([MNIST, "--seed=4294967296"], {}, "argument --seed: '4294967296' is too large"),
        (["-m", "runtime", MNIST], {}, "datasets/mnist holds neither mnist-5k.npz nor"),
    ],
)
def test_refused(
    fails: object, arguments: list[str], variables: dict[str, str], message: str
) -> None:
    assert callable(fails)
    assert message in fails(arguments, **variables)


METHODS = """
from runtime import Task, train

class Line(Task):
    model = "linear"
    def dataset(self): ...
    def loss(self, labels, outputs, weights): ...
    def metrics(self, labels, outputs, weights=None): ...
    def prepare(self, *batch): ...

train(Line())
"""


def test_a_method_that_cannot_be_called_is_told_with_all_others(
    fails: object, tmp_path: Path
) -> None:
    assert callable(fails)
    (tmp_path / "line.py").write_text(METHODS)
    assert fails(["line.py"]) == (
        "line.py: Line.model must be a method model(self); "
        "Line.dataset() must be a method dataset(self, split); "
        "Line.loss(labels, outputs, weights) must be a method loss(self, labels, outputs)\n"
    )


def test_every_replica_that_reads_data_misses_it_at_once(fails: object) -> None:
    assert callable(fails)
    cluster = {"worker": ["127.0.0.1:1", "127.0.0.1:2"], "evaluator": ["127.0.0.1:3"]}
    for role in cluster:
        config = json.dumps({"cluster": cluster, "task": {"type": role, "index": 0}})
        assert "holds neither" in fails(["-m", "runtime", MNIST], TF_CONFIG=config)
