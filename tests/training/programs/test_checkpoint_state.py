"""A lost or damaged list of checkpoints: nothing that was trained is lost with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from runtime.errors import BAD_INPUT, ReplicaError
from runtime.settings import Settings

from tests.training.programs.replica_processes import run

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a run that saved at steps 10, 20 and 30."""
    import tensorflow as tf

    found = Settings(job="trial", job_dir=tmp_path, datasets_dir=tmp_path)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(weight=tf.Variable([1.0, 2.0])),
        str(found.checkpoints_dir),
        max_to_keep=5,
        checkpoint_name="ckpt",
    )
    for step in (10, 20, 30):
        manager.save(checkpoint_number=step)
    return found


def newest(settings: Settings) -> str:
    """Where the leader would go on."""
    from runtime import checkpoints
    from runtime.checkpoint_state import mend_state

    mend_state(settings)
    found = checkpoints.latest(settings)
    return Path(found[0]).name if found else "nowhere"


def empty(state: Path) -> None:
    state.write_bytes(b"")


def garble(state: Path) -> None:
    state.write_bytes(b"\xff\x00 not a list")


def other_text(state: Path) -> None:
    state.write_text("model_checkpoint: [")


DAMAGE = pytest.mark.parametrize("damage", [empty, garble, other_text, Path.unlink])


@DAMAGE
def test_the_newest_whole_checkpoint_is_found(
    settings: Settings, damage: Callable[[Path], None]
) -> None:
    from runtime import checkpoints

    damage(settings.checkpoints_dir / "checkpoint")
    # Another replica waits for the leader: it could see a checkpoint that is being written.
    assert checkpoints.latest(settings) is None
    assert newest(settings) == "ckpt-30"
    before = checkpoints.before(settings, 30)
    assert before is not None and before[1] == 20


def without_index(directory: Path) -> None:
    (directory / "ckpt-30.index").unlink()


def with_short_index(directory: Path) -> None:
    path = directory / "ckpt-30.index"
    path.write_bytes(path.read_bytes()[:20])


def without_data(directory: Path) -> None:
    (directory / "ckpt-30.data-00000-of-00001").unlink()


def with_short_data(directory: Path) -> None:
    (directory / "ckpt-30.data-00000-of-00001").write_bytes(b"")


@pytest.mark.parametrize("harm", [without_index, with_short_index, without_data, with_short_data])
def test_one_that_is_not_whole_is_passed_over(
    settings: Settings, harm: Callable[[Path], None]
) -> None:
    empty(settings.checkpoints_dir / "checkpoint")
    harm(settings.checkpoints_dir)
    assert newest(settings) == "ckpt-20"


@DAMAGE
def test_parts_alone_are_refused_and_left(
    settings: Settings, damage: Callable[[Path], None]
) -> None:
    directory = settings.checkpoints_dir
    damage(directory / "checkpoint")
    for path in directory.glob("*.index"):
        path.unlink()
    before = sorted(directory.iterdir())
    with pytest.raises(ReplicaError) as caught:
        newest(settings)
    assert caught.value.code == BAD_INPUT
    assert str(caught.value) == (
        f"{directory} has no whole checkpoint, only parts of ckpt-10, ckpt-20, ckpt-30: put the"
        " missing files back, or set `run: 2` to train anew; nothing was changed"
    )
    assert sorted(directory.iterdir()) == before


def test_a_first_save_that_was_killed_is_begun_again(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = settings.checkpoints_dir
    for path in directory.iterdir():
        path.unlink()
    (directory / "ckpt-10_temp").mkdir()
    assert newest(settings) == "nowhere"
    assert capsys.readouterr().out == "ckpt-10 was never saved whole: begins at step 0\n"


def test_nothing_there_is_nothing_to_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert newest(Settings(job="trial", job_dir=tmp_path, datasets_dir=tmp_path)) == "nowhere"
    assert capsys.readouterr().out == ""


def test_training_goes_on_from_what_was_found(tmp_path: Path) -> None:
    directory = tmp_path / "trial/checkpoints/run-1"
    arguments = ["--checkpoint-every=10"]
    assert run(tmp_path, "--steps=20", *arguments, program="tabular.py").returncode == 0
    empty(directory / "checkpoint")
    ended = run(tmp_path, "--steps=30", *arguments, program="tabular.py")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    assert f"continues from {directory}/ckpt-20" in ended.stdout
    assert len(list(directory.glob("ckpt-*.index"))) == 3
