"""Turns a program's dataset into the batches each replica trains and is evaluated on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

from runtime.errors import DataError, ReplicaError
from runtime.task import Task

EVALUATION_BATCH = 500

SHUFFLE_BYTES = 512 * 2**20
"""What the examples in a shuffle buffer may take together; each process has one."""

PART_BYTES = 2**30
"""How much of an array goes to another process at once."""

_GRAPH_BYTES = 2**31 - 1
_TOO_LARGE = (
    "dataset('train') holds more than 2 GB of arrays inside a tf.data.Dataset, which cannot be sent"
    " to the workers: give the arrays themselves, or a dataset that reads files"
)

_STREAMED_EXAMPLES = 100_000
"""More of a stream would take long to read before the first step."""

_ELEMENT_OVERHEAD = 256
"""Bytes that tf.data keeps for an element beside its content, generously."""


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
        data = task.dataset("train")
        self._arrays: Any = None
        if _are_arrays(data):
            self._arrays = tuple(data)
            self._count = _rows(self._arrays)
            buffer = shuffle_buffer(self._count, shares, np.dtype(np.int64).itemsize)
        else:
            self._dataset = examples(data)
            self._count = int(self._dataset.cardinality())
            buffer = shuffle_buffer(self._count, shares, _element_bytes(self._dataset))
            buffer = min(buffer, _STREAMED_EXAMPLES)
        if 0 <= self._count < shares:
            raise DataError(f"dataset('train') has {self._count} examples for {shares} workers")
        self._buffer = max(1, buffer)

    @property
    def batch_spec(self) -> Any:
        """Types and shapes of a batch of one example."""
        if self._arrays is None:
            dataset = self._dataset
        else:
            dataset = examples(tf.nest.map_structure(lambda array: array[:1], self._arrays))
        return dataset.batch(1, drop_remainder=True).map(self._task.prepare).element_spec

    def batches(self, batch_size: int, seed: int | None = None, share: int = 0) -> tf.data.Dataset:
        """Endless shuffled batches of one share. Without a seed each process has its own order."""
        # Of arrays, which are in memory already, the numbers of rows are shuffled in their place.
        rows = self._arrays is not None
        dataset = tf.data.Dataset.range(self._count) if rows else self._examples()
        dataset = dataset.shard(self._shares, share).shuffle(self._buffer, seed=seed).repeat()
        dataset = dataset.batch(batch_size, drop_remainder=True)
        if rows:
            tensors = tf.nest.map_structure(_tensor, self._arrays)

            def at(numbers: Any) -> Any:
                return tf.nest.map_structure(lambda tensor: tf.gather(tensor, numbers), tensors)

            dataset = dataset.map(at, num_parallel_calls=2)
        return dataset.map(self._task.prepare, num_parallel_calls=2).prefetch(4)

    def sendable_batches(self, batch_size: int) -> Any:
        """A traced function that gives batches() in whichever process it is sent to; without a
        global seed, each shuffles by itself.

        Raises ReplicaError when its graph is too large to be sent.
        """
        function = tf.function(lambda: self.batches(batch_size), autograph=False)
        try:
            traced = function.get_concrete_function()
        except ValueError as error:
            # TensorFlow has no class of its own for a constant that is too large.
            if "larger than 2GB" not in str(error):
                raise
            raise ReplicaError(_TOO_LARGE) from None
        try:
            size = traced.graph.as_graph_def().ByteSize()
        except (ValueError, DecodeError):
            size = _GRAPH_BYTES
        if size >= _GRAPH_BYTES:
            raise ReplicaError(_TOO_LARGE)
        return traced

    def _examples(self) -> tf.data.Dataset:
        if tf.inside_function():
            # The function is sent to another process, to which no dataset of this one can go.
            return examples(self._task.dataset("train"))
        return self._dataset


def _tensor(array: Any) -> Any:
    """`array` as a tensor; inside a function, which is sent to another process, put together of
    parts that the function takes along as inputs. As a constant it would have to fit into the 2 GB
    that a graph may have, and as one input into the 2 GB of a message."""
    if not tf.inside_function():
        with tf.device("/CPU:0"):
            return tf.convert_to_tensor(array)
    rows_a_part = max(1, len(array) * PART_BYTES // max(1, _bytes(array)))
    with tf.init_scope(), tf.device("/CPU:0"):
        starts = range(0, len(array), rows_a_part)
        parts = [tf.convert_to_tensor(array[start : start + rows_a_part]) for start in starts]
    return parts[0] if len(parts) == 1 else tf.concat(parts, axis=0)


def _are_arrays(data: Any) -> bool:
    if isinstance(data, tf.data.Dataset):
        return False
    leaves = tf.nest.flatten(tuple(data))
    return all(isinstance(leaf, np.ndarray | tf.Tensor) and leaf.ndim for leaf in leaves)


def _rows(arrays: Any) -> int:
    lengths = sorted({int(array.shape[0]) for array in tf.nest.flatten(arrays)})
    if len(lengths) > 1:
        raise DataError(
            f"dataset('train') gave arrays of {' and '.join(map(str, lengths))} rows; each has one"
            " row for each example"
        )
    return lengths[0]


def _element_bytes(dataset: tf.data.Dataset) -> int:
    """Size of an example: by its type, else, where that leaves it open, of the first one."""
    specs = tf.nest.flatten(dataset.element_spec)
    if all(isinstance(spec, tf.TensorSpec) and _has_fixed_size(spec) for spec in specs):
        return sum(spec.shape.num_elements() * spec.dtype.size for spec in specs)
    for element in dataset.take(1):
        tensors = tf.nest.flatten(element, expand_composites=True)
        return sum(map(_bytes, tensors))
    return 0


def _has_fixed_size(spec: tf.TensorSpec) -> bool:
    return bool(spec.shape.is_fully_defined()) and spec.dtype not in (tf.string, tf.variant)


def _bytes(tensor: Any) -> int:
    array = np.asarray(tensor)
    # Texts are Python objects of their own, of which the array holds the addresses.
    return sum(map(len, array.flat)) if array.dtype == object else array.nbytes


def shuffle_buffer(count: int, shares: int, element_bytes: int) -> int:
    """How many of `count` examples (negative: unknown) the shuffle buffer of one share holds."""
    fitting = max(1, SHUFFLE_BYTES // (element_bytes + _ELEMENT_OVERHEAD))
    return min(fitting, math.ceil(count / shares)) if count >= 0 else fitting


def evaluation_batches(task: Task, data: Any) -> tf.data.Dataset:
    """Each example of `data` once, in order."""
    return examples(data).batch(EVALUATION_BATCH).map(task.prepare).prefetch(2)


def share_of_batch(batch_size: int, shares: int, index: int) -> int:
    """How many examples of a global batch fall to one of `shares` workers."""
    return batch_size // shares + (1 if index < batch_size % shares else 0)
