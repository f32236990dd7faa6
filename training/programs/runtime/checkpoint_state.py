"""Mends a run's list of checkpoints, TensorFlow's file `checkpoint`, when it was lost or damaged.

Without it training would begin at step 0 and write over what is there.
"""

from __future__ import annotations

import re
from pathlib import Path

import tensorflow as tf

from runtime import checkpoints
from runtime.errors import ReplicaError
from runtime.settings import Settings

_STATE = "checkpoint"


def mend_state(settings: Settings) -> None:
    """checkpoints.latest() finds the newest whole checkpoint afterwards, if there is any.

    Only for the leader, before it trains: another replica could see a checkpoint half-written.
    Raises ReplicaError if there are only parts of checkpoints.
    """
    if checkpoints.latest(settings):
        return
    directory = settings.checkpoints_dir
    steps = _steps(directory)
    whole = [step for step in steps if _is_whole(directory / f"ckpt-{step}")]
    if whole:
        # Names without the directory, which may be mounted elsewhere in another replica.
        names = [f"ckpt-{step}" for step in whole]
        tf.compat.v1.train.update_checkpoint_state(str(directory), names[-1], names)
        print(f"{directory / _STATE} was missing or damaged: found {names[-1]}", flush=True)
        return
    # A process that was killed in its first save leaves parts of one checkpoint and no list.
    if len(steps) > 1 or (steps and (directory / _STATE).exists()):
        parts = ", ".join(f"ckpt-{step}" for step in steps)
        raise ReplicaError(
            f"{directory} has no whole checkpoint, only parts of {parts}: put the missing files"
            f" back, or set `run: {settings.run + 1}` to train anew; nothing was changed"
        )
    if steps:
        print(f"ckpt-{steps[0]} was never saved whole: begins at step 0", flush=True)


def _steps(directory: Path) -> list[int]:
    """The steps of which there is any file of a checkpoint."""
    if not directory.is_dir():
        return []
    found = (re.match(r"ckpt-(\d+)[._]", entry.name) for entry in directory.iterdir())
    return sorted({int(match[1]) for match in found if match})


def _is_whole(prefix: Path) -> bool:
    """Whether everything in the checkpoint can be read, by TensorFlow's checksums."""
    if not prefix.with_name(f"{prefix.name}.index").exists():
        return False
    try:
        reader = tf.train.load_checkpoint(str(prefix))
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
    except (ValueError, *checkpoints.UNREADABLE):
        return False
    return True
