"""Keras is the same in every job, whatever the home directory says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runtime.errors import ReplicaError
from runtime.keras_settings import settle_keras

from tests.training.programs.replica_processes import run


def test_keras_is_tensorflows_and_has_no_home() -> None:
    environment: dict[str, str] = {}
    settle_keras(environment)
    assert environment["KERAS_BACKEND"] == "tensorflow"
    assert not Path(environment["KERAS_HOME"]).exists()


def test_a_home_that_the_job_names_stays() -> None:
    environment = {"KERAS_BACKEND": "tensorflow", "KERAS_HOME": "/nas/keras"}
    settle_keras(environment)
    assert environment["KERAS_HOME"] == "/nas/keras"


def test_another_backend_is_refused() -> None:
    with pytest.raises(ReplicaError, match="KERAS_BACKEND is 'jax', and jobs train with TensorFl"):
        settle_keras({"KERAS_BACKEND": "jax"})


@pytest.mark.tensorflow
@pytest.mark.parametrize("early", ["", "import keras\n"])
def test_settings_in_the_home_directory_change_nothing(tmp_path: Path, early: str) -> None:
    home = tmp_path / "home"
    (home / ".keras").mkdir(parents=True)
    settings = {"backend": "jax", "floatx": "float64", "image_data_format": "channels_first"}
    (home / ".keras/keras.json").write_text(json.dumps(settings))
    before = sorted(home.rglob("*"))
    program = tmp_path / "told.py"
    program.write_text(
        f"{early}import json\nfrom tabular import Tabular\nfrom runtime import train\n"
        "class Told(Tabular):\n"
        "    def model(self):\n"
        "        import keras\n"
        "        told = keras.config\n"
        "        print(told.backend(), told.floatx(), told.image_data_format())\n"
        "        return super().model()\n"
        "train(Told())\n"
    )
    ended = run(tmp_path, "--steps=5", program=str(program), HOME=str(home))
    assert ended.returncode == 0, ended.stderr
    assert "tensorflow float32 channels_last" in ended.stdout
    assert json.loads((home / ".keras/keras.json").read_text()) == settings
    assert sorted(home.rglob("*")) == before


@pytest.mark.tensorflow
def test_a_program_that_took_another_backend_first_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "early.py"
    program.write_text(
        "import keras\n"
        "from tabular import Tabular\n"
        "from runtime import train\n"
        "# As if the home directory had said so, for no other backend is installed here.\n"
        "keras.config.backend = lambda: 'jax'\n"
        "train(Tabular())\n"
    )
    ended = run(tmp_path, "--steps=5", program=str(program))
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("early.py: KERAS_BACKEND is 'jax', and jobs")
