"""Shuffling within bounds, and arrays of any size for workers elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from runtime.errors import DataError, ReplicaError
from runtime.task import Task

pytestmark = pytest.mark.tensorflow


class Given(Task):
    """A task with this dataset."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def dataset(self, split: str) -> Any:
        return self.data() if callable(self.data) else self.data


def training_data(data: Any, shares: int = 1) -> Any:
    from runtime.input_pipeline import TrainingData

    return TrainingData(Given(data), shares)


def labels_of(dataset: Any, batches: int) -> list[int]:
    return [int(label) for _, labels in dataset.take(batches) for label in labels]


def test_each_row_comes_once_a_round_and_with_its_own_label() -> None:
    numbers = np.arange(40)
    data = training_data(({"x": numbers[:, np.newaxis] * 2.5}, numbers), shares=2)
    seen: list[int] = []
    for share in range(2):
        dataset = data.batches(5, seed=3, share=share)
        for inputs, labels in dataset.take(4):
            assert (inputs["x"][:, 0].numpy() == labels.numpy() * 2.5).all()
        order = labels_of(dataset, 4)
        assert order != sorted(order)
        seen += order
    assert sorted(seen) == list(range(40))


def test_a_buffer_holds_what_there_is_and_what_memory_has_room_for() -> None:
    from runtime.input_pipeline import SHUFFLE_BYTES, shuffle_buffer

    assert shuffle_buffer(1000, 3, 8) == 334
    megabyte = 2**20
    for count in (10**9, -1):
        assert 0.9 < shuffle_buffer(count, 1, megabyte) * megabyte / SHUFFLE_BYTES <= 1
    assert shuffle_buffer(-1, 1, 10 * SHUFFLE_BYTES) == 1


@pytest.mark.parametrize("typed", [True, False])
def test_large_examples_of_a_stream_are_not_all_held(
    monkeypatch: pytest.MonkeyPatch, typed: bool
) -> None:
    import tensorflow as tf
    from runtime import input_pipeline

    monkeypatch.setattr(input_pipeline, "SHUFFLE_BYTES", 4_500_000)
    read: list[int] = []

    def images() -> Any:
        for number in range(1000):
            read.append(number)
            yield np.full(1_000_000, number % 256, np.uint8), np.int64(number)

    shape = [1_000_000] if typed else [None]
    spec = (tf.TensorSpec(shape, tf.uint8), tf.TensorSpec([], tf.int64))
    dataset = tf.data.Dataset.from_generator(images, output_signature=spec)
    data = training_data(dataset)
    read.clear()
    next(iter(data.batches(1)))
    # The buffer is filled before the first example comes out of it.
    assert 3 <= max(read) <= 20


def test_texts_are_measured_by_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf
    from runtime import input_pipeline

    texts = tf.data.Dataset.from_tensors(("x" * 10_000, 1))
    assert input_pipeline._element_bytes(texts) == 10_004


def test_arrays_go_along_as_inputs_in_parts_and_not_inside_the_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from runtime import input_pipeline

    monkeypatch.setattr(input_pipeline, "PART_BYTES", 100_000)
    rows = np.arange(1000)
    data = training_data((np.repeat(rows[:, np.newaxis], 125, axis=1), rows))
    function = data.sendable_batches(10)
    assert function.graph.as_graph_def().ByteSize() < 100_000
    sizes = [tensor.numpy().nbytes for tensor in function.captured_inputs]
    assert sum(sizes) == 1_008_000
    assert max(sizes) <= 100_000
    dataset = function()
    for inputs, labels in dataset.take(100):
        assert (inputs.numpy() == labels.numpy()[:, np.newaxis]).all()
    assert sorted(labels_of(function(), 100)) == list(range(1000))


def test_arrays_hidden_in_a_dataset_are_refused_when_they_are_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import tensorflow as tf
    from runtime import input_pipeline

    def hidden() -> Any:
        return tf.data.Dataset.from_tensor_slices((np.zeros((1000, 100)), np.zeros(1000)))

    data = training_data(hidden)
    data.sendable_batches(10)
    monkeypatch.setattr(input_pipeline, "_GRAPH_BYTES", 500_000)
    with pytest.raises(ReplicaError, match="more than 2 GB of arrays inside a tf"):
        data.sendable_batches(10)


def test_arrays_of_unequal_length_are_named() -> None:
    with pytest.raises(DataError, match="arrays of 9 and 10 rows"):
        training_data((np.zeros(10), np.zeros(9)))
