"""Turns a program's dataset into the batches each replica trains and is evaluated on."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from runtime.errors import DataError
from runtime.task import Task

EVALUATION_BATCH = 500
_SHUFFLE_BUFFER = 100_000


def examples(data: Any) -> tf.data.Dataset:
    """`data`, as Task.dataset() gives it, as a dataset of single (inputs, labels)."""
    if isinstance(data, tf.data.Dataset):
        return data
    return tf.data.Dataset.from_tensor_slices(tuple(data))


class TrainingData:
    """The examples dataset("train") gave, batched for one share of the workers after another.

    Raises DataError if there are fewer examples than `shares`.
    """

    def __init__(self, task: Task, shares: int) -> None:
        self._task = task
        self._shares = shares
        self._data = task.dataset("train")
        self._count = int(examples(self._data).cardinality())
        if 0 <= self._count < shares:
            raise DataError(f"dataset('train') has {self._count} examples for {shares} workers")

    def batches(self, batch_size: int, seed: int | None = None, share: int = 0) -> tf.data.Dataset:
        """Endless shuffled batches of one share. Without a seed each process has its own order."""
        data = self._data
        if isinstance(data, tf.data.Dataset) and tf.inside_function():
            # The function is sent to another process, to which no dataset of this one can go.
            data = self._task.dataset("train")
        dataset = examples(data).shard(self._shares, share)
        buffer = min(self._count, _SHUFFLE_BUFFER) if self._count >= 0 else _SHUFFLE_BUFFER
        dataset = dataset.shuffle(buffer, seed=seed).repeat()
        dataset = dataset.batch(batch_size, drop_remainder=True)
        return dataset.map(self._task.prepare, num_parallel_calls=2).prefetch(4)


def evaluation_batches(task: Task, data: Any) -> tf.data.Dataset:
    """Each example of `data` once, in order."""
    return examples(data).batch(EVALUATION_BATCH).map(task.prepare).prefetch(2)


def share_of_batch(batch_size: int, shares: int, index: int) -> int:
    """How many examples of a global batch fall to one of `shares` workers."""
    return batch_size // shares + (1 if index < batch_size % shares else 0)
