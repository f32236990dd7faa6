"""Checkpoints of a run: saved by the leader, restored only into a model they fit."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import tensorflow as tf

from runtime.cluster import Replica
from runtime.errors import ReplicaError
from runtime.learner import Learner, named_variables
from runtime.peer_loss import is_peer_loss
from runtime.settings import Settings

KEPT = 5

UNREADABLE = (tf.errors.OpError, IndexError)
"""What TensorFlow's reader raises for a damaged file: IndexError if it ends too early."""


def latest(settings: Settings) -> tuple[str, int] | None:
    """Path and step of the run's newest checkpoint; None before the first."""
    return max(_saved(settings), key=lambda saved: saved[1], default=None)


def before(settings: Settings, step: int) -> tuple[str, int] | None:
    """Path and step of the newest checkpoint before that of `step`."""
    earlier = [saved for saved in _saved(settings) if saved[1] < step]
    return max(earlier, key=lambda saved: saved[1], default=None)


def _saved(settings: Settings) -> Iterator[tuple[str, int]]:
    # The state file, not the files themselves, says what was saved whole.
    for path in _stated(settings.checkpoints_dir):
        match = re.fullmatch(r"ckpt-(\d+)", Path(path).name)
        if match and Path(f"{path}.index").exists():
            yield path, int(match[1])


def _stated(directory: Path) -> list[str]:
    """The checkpoints that the state file names; none if it cannot be read."""
    try:
        state = tf.train.get_checkpoint_state(str(directory))
    except ValueError:
        # So is an empty file told, and one that is no text.
        return []
    return list(state.all_model_checkpoint_paths) if state else []


class Checkpoints:
    """Saves and restores a learner's model, optimizer and global step as <directory>/ckpt-<step>.

    `device`: where files are read and written. With parameter servers that must be the chief, for
    each server would otherwise write its part to a disk of its own.
    """

    def __init__(self, learner: Learner, directory: Path, device: str | None = None) -> None:
        self._learner = learner
        self._parts = {
            "model": named_variables(learner.model.variables),
            "optimizer": named_variables(learner.optimizer.variables),
        }
        root = tf.train.Checkpoint(
            step=learner.step,
            **{part: tf.train.Checkpoint(**names) for part, names in self._parts.items()},
        )
        self._root = root
        self._options = tf.train.CheckpointOptions(experimental_io_device=device)
        self._manager = tf.train.CheckpointManager(
            root, str(directory), max_to_keep=KEPT, checkpoint_name="ckpt"
        )

    def restore(self, path: str) -> None:
        """Model, optimizer and step are those of the checkpoint at `path`.

        Raises ReplicaError, with nothing restored, if the checkpoint does not fit.
        """
        try:
            refuse_misfit(path, self._parts)
            self._root.restore(path, options=self._options).assert_consumed()
        except UNREADABLE as error:
            if is_peer_loss(error):
                raise
            raise _damaged(path, error) from None

    def save(self, step: int) -> None:
        """The run's newest checkpoint is that of `step`."""
        self._manager.save(checkpoint_number=step, options=self._options)


def restore_model(path: str, model: Any) -> None:
    """The weights of `model` are those of the checkpoint at `path`, whatever trained them.

    Raises ReplicaError if it does not fit or is damaged, NotFoundError if it is gone by now.
    """
    names = named_variables(model.variables)
    root = tf.train.Checkpoint(model=tf.train.Checkpoint(**names))
    try:
        refuse_misfit(path, {"model": names})
        root.restore(path).expect_partial()
    except tf.errors.NotFoundError:
        raise
    except UNREADABLE as error:
        raise _damaged(path, error) from None


def refuse_misfit(path: str, parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises ReplicaError naming the first variable in which checkpoint and program differ."""
    stored = {key: list(shape) for key, shape in tf.train.list_variables(path)}
    run = re.fullmatch("run-([0-9]+)", Path(path).parent.name)
    following = int(run[1]) + 1 if run else 2
    remedy = f"set `run: {following}` (a new number) to train anew; the checkpoint is left as it is"
    for part, variables in parts.items():
        prefix, suffix = f"{part}/", "/.ATTRIBUTES/VARIABLE_VALUE"
        found = {
            key.removeprefix(prefix).removesuffix(suffix): shape
            for key, shape in stored.items()
            if key.startswith(prefix) and key.endswith(suffix)
        }
        wanted = {name: variable.shape.as_list() for name, variable in variables.items()}
        for name in sorted(wanted.keys() | found.keys()):
            if found.get(name) != wanted.get(name):
                raise ReplicaError(
                    f"checkpoint {path} does not fit the program: {part} variable"
                    f" {name.split(':', 1)[1].replace(':', '/')} is {_shape(found.get(name))} in"
                    f" the checkpoint and {_shape(wanted.get(name))} in the program; {remedy}"
                )


def _damaged(path: str, error: Exception) -> ReplicaError:
    reason = str(error).strip().splitlines()[0]
    return ReplicaError(
        f"checkpoint {path} is damaged ({reason}); without the files {path}.* training goes on"
        " from the checkpoint before it"
    )


def _shape(shape: list[int] | None) -> str:
    return "absent" if shape is None else f"of shape {tuple(shape)}"


def throw_away_directory(settings: Settings, replica: Replica) -> Path:
    """An empty directory on this machine for what a replica saves only to take part in saving.

    Variables that are averaged when read need every process to save; only the leader's files are
    wanted. The name is the replica's own, so what a killed process left is removed here.
    """
    place = f"{settings.checkpoints_dir}:{replica.name}".encode()
    directory = Path(tempfile.gettempdir()) / f"ack-training-{sha256(place).hexdigest()[:16]}"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700, parents=True)
    return directory
