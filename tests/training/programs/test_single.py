"""One process, from the first step to an export, again, and on to more steps."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.training.programs.conftest import StartJob
from tests.training.programs.replica_processes import (
    PROGRAMS,
    environment_of,
    run,
    scalars,
)

pytestmark = pytest.mark.tensorflow

RUN = Path("trial/checkpoints/run-1")


def files(directory: Path) -> dict[str, int]:
    return {str(p): p.stat().st_mtime_ns for p in directory.rglob("*") if p.is_file()}


def predict(model: Path, images: Any) -> dict[str, Any]:
    program = (
        "import sys, json, numpy as np, tensorflow as tf\n"
        "model = tf.saved_model.load(sys.argv[1])\n"
        "outputs = model.signatures['serving_default'](images=tf.constant(np.load(sys.argv[2])))\n"
        "print(json.dumps({name: value.numpy().tolist() for name, value in outputs.items()}))\n"
    )
    import numpy as np

    path = model.parent.parent / "images.npy"
    np.save(path, images)
    ended = subprocess.run(
        [sys.executable, "-c", program, str(model), str(path)],
        env=environment_of(model),
        capture_output=True,
        text=True,
        check=True,
    )
    outputs: dict[str, Any] = json.loads(ended.stdout)
    return outputs


def test_train_again_and_further(tmp_path: Path, datasets: Path) -> None:
    import numpy as np
    from mnist_files import read_mnist

    (tmp_path / "datasets").symlink_to(datasets)
    arguments = ["--checkpoint-every=20", "--log-every=20", "--evaluate-every=40"]
    first = run(tmp_path, "--steps=80", *arguments, ACK_TRAINING_EXPORT="1")
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""
    result = json.loads((tmp_path / RUN / "result.json").read_text())
    assert result["step"] == 80
    assert result["examples"] == 1000
    assert f"accuracy {result['accuracy']:.6g}" in first.stdout
    progress = json.loads((tmp_path / "progress" / "chief-0.json").read_text())
    assert (progress["phase"], progress["step"], progress["steps"]) == ("done", 80, 80)
    assert progress["accuracy"] == result["accuracy"]

    curves = scalars(tmp_path / "trial" / "logs" / "chief" / "run-1")
    assert curves["train/loss"] == curves["train/accuracy"] == [20, 40, 60, 80]
    assert curves["train/examples_per_second"] == [20, 40, 60, 80]
    assert curves["evaluation/loss"] == curves["evaluation/accuracy"] == [40, 80]

    images, labels = read_mnist(datasets / "mnist", "test")
    outputs = predict(tmp_path / "trial" / "export" / "1", images.astype(np.float32) / 255)
    assert np.shape(outputs["probabilities"]) == (1000, 10)
    right = int((np.array(outputs["classes"]) == labels).sum())
    assert right == round(result["accuracy"] * 1000)

    before = files(tmp_path / "trial")
    again = run(tmp_path, "--steps=80", *arguments, ACK_TRAINING_EXPORT="1")
    assert again.returncode == 0, again.stderr
    assert "already reached step 80" in again.stdout
    assert files(tmp_path / "trial") == before

    further = run(tmp_path, "--steps=120", *arguments, ACK_TRAINING_EXPORT="1")
    assert further.returncode == 0, further.stderr
    assert f"continues from {tmp_path / RUN}/ckpt-80" in further.stdout
    assert "step 80/" not in further.stdout
    assert sorted(p.name for p in (tmp_path / "trial" / "export").iterdir()) == ["1", "2"]

    anew = run(tmp_path, "--steps=20", *arguments, ACK_TRAINING_RUN="2")
    assert anew.returncode == 0, anew.stderr
    assert "continues" not in anew.stdout
    assert json.loads((tmp_path / RUN / "result.json").read_text())["step"] == 120


def change(program: str, *replacements: tuple[str, str]) -> str:
    text = (PROGRAMS / "tabular.py").read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text


def test_checkpoint_that_does_not_fit_is_refused_and_left(tmp_path: Path) -> None:
    program = tmp_path / "tabular.py"
    program.write_text((PROGRAMS / "tabular.py").read_text())

    def train(steps: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run(tmp_path, f"--steps={steps}", *arguments, program=str(program))

    assert train(20).returncode == 0
    assert "absolute_error" in json.loads((tmp_path / RUN / "result.json").read_text())
    before = files(tmp_path / "trial" / "checkpoints")

    def refused(*arguments: str) -> str:
        ended = train(40, *arguments)
        assert ended.returncode == 2, ended.stderr
        assert len(ended.stderr.splitlines()) == 1
        assert f"checkpoint {tmp_path / RUN / 'ckpt-20'} does not fit" in ended.stderr
        assert "`run: 2`" in ended.stderr
        assert files(tmp_path / "trial" / "checkpoints") == before
        return ended.stderr

    assert (
        "model variable dense/kernel is of shape (5, 32) in the checkpoint"
        " and of shape (5, 16) in the program" in refused("--hidden=16")
    )
    layer = '        x = layers.Dense(self.options.hidden, activation="relu")(x)\n'
    program.write_text(change("", (layer + layer, layer)))
    assert "in the checkpoint and" in refused()
    adagrad = "    def loss(self, labels: Any"
    optimizer = "    def optimizer(self) -> Any:\n        import keras\n\n"
    optimizer += "        return keras.optimizers.SGD(0.01)\n\n"
    program.write_text(change("", (adagrad, optimizer + adagrad)))
    assert "optimizer variable" in refused()


def test_damaged_checkpoint_is_refused_by_name_and_the_one_before_is_used(tmp_path: Path) -> None:
    arguments = ["--checkpoint-every=10"]
    assert run(tmp_path, "--steps=20", *arguments, program="tabular.py").returncode == 0
    newest = sorted((tmp_path / RUN).glob("ckpt-20.*"))
    # The data file first, which is read after the index.
    for path in newest:
        path.write_bytes(path.read_bytes()[:100])
        ended = run(tmp_path, "--steps=30", *arguments, program="tabular.py")
        assert ended.returncode == 2, ended.stderr
        assert f"checkpoint {tmp_path / RUN / 'ckpt-20'} is damaged" in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
    for path in newest:
        path.unlink()
    ended = run(tmp_path, "--steps=30", *arguments, program="tabular.py")
    assert ended.returncode == 0, ended.stderr
    assert f"continues from {tmp_path / RUN}/ckpt-10" in ended.stdout


def test_error_of_the_program_keeps_its_traceback(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(
        change("", ("return keras.ops.square(labels - outputs)", "raise KeyError('mine')"))
    )
    ended = run(tmp_path, "--steps=20", program=str(program))
    assert ended.returncode == 1
    assert "wrong.py" in ended.stderr
    assert "KeyError: 'mine'" in ended.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_ends_training_and_the_checkpoint_stays(
    start_job: StartJob, number: int, code: int
) -> None:
    job = start_job({"worker": 1}, ["--steps=1000000", "--checkpoint-every=20", "--log-every=20"])
    job.run_until(lambda: job.progress("chief-0")["step"] >= 40)
    process = job.processes["worker-0"]
    job.kill("worker-0", with_signal=number)
    assert process.wait(timeout=60) == code
    assert list((job.directory / RUN).glob("ckpt-*.index"))
