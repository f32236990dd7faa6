"""MNIST from IDX files and from the sample; what is missing or damaged is named."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from mnist_files import IDX_FILES, SAMPLE_FILE, read_mnist
from runtime import DataError

from workloads.datasets.mnist_sample import fill


def write_idx(path: Path, array: np.ndarray) -> None:
    header = bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes()))


@pytest.fixture
def idx(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    for split, count in (("train", 12), ("test", 5)):
        images, labels = IDX_FILES[split]
        write_idx(tmp_path / images, random.integers(0, 256, (count, 28, 28), np.uint8))
        write_idx(tmp_path / labels, np.arange(count, dtype=np.uint8) % 10)
    return tmp_path


def test_idx_files_are_read(idx: Path) -> None:
    images, labels = read_mnist(idx, "train")
    assert images.shape == (12, 28, 28)
    assert labels.tolist() == [*range(10), 0, 1]
    assert read_mnist(idx, "test")[0].shape == (5, 28, 28)


def test_idx_files_win_over_the_sample(idx: Path, datasets: Path) -> None:
    (idx / SAMPLE_FILE).write_bytes((datasets / "mnist" / SAMPLE_FILE).read_bytes())
    assert len(read_mnist(idx, "train")[0]) == 12


def test_sample_is_split_the_same_way_each_time_and_never_overlaps(datasets: Path) -> None:
    train, labels = read_mnist(datasets / "mnist", "train")
    held_out, held_out_labels = read_mnist(datasets / "mnist", "test")
    assert (len(train), len(held_out)) == (4000, 1000)
    again, _ = read_mnist(datasets / "mnist", "test")
    assert np.array_equal(held_out, again)
    assert not {image.tobytes() for image in train} & {image.tobytes() for image in held_out}
    # Sorted by class in the file: without the shuffle, classes would be missing on either side.
    assert set(labels) == set(held_out_labels) == set(range(10))


def test_nothing_there_names_the_directory_and_what_it_may_hold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"{tmp_path}/mnist holds neither {SAMPLE_FILE} nor"):
        read_mnist(tmp_path / "mnist", "train")


def test_some_of_the_idx_files_names_those_missing(idx: Path) -> None:
    missing = IDX_FILES["test"][1]
    (idx / missing).unlink()
    with pytest.raises(DataError, match=f"{idx} lacks {missing} beside"):
        read_mnist(idx, "train")


def not_gzip(path: Path) -> None:
    path.write_bytes(b"not gzip")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def wrong_magic(path: Path) -> None:
    path.write_bytes(gzip.compress(b"\0\0\x0d\3" + bytes(100)))


def too_short(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-1]))


def too_long(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"\0"))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def other_size(path: Path) -> None:
    write_idx(path, np.zeros((12, 27, 28), np.uint8))


def fewer(path: Path) -> None:
    write_idx(path, np.zeros((11, 28, 28), np.uint8))


@pytest.mark.parametrize(
    "damage", [not_gzip, cut, wrong_magic, too_short, too_long, empty, other_size, fewer]
)
def test_damaged_idx_file_is_named(idx: Path, damage: object) -> None:
    assert callable(damage)
    damage(idx / IDX_FILES["train"][0])
    with pytest.raises(DataError) as caught:
        read_mnist(idx, "train")
    assert str(idx / "train-") in str(caught.value)
    assert "is damaged" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_label_that_is_no_digit_is_refused(idx: Path) -> None:
    name = IDX_FILES["train"][1]
    write_idx(idx / name, np.full(12, 10, np.uint8))
    with pytest.raises(DataError, match=f"{name} is damaged: labels are not numbers from 0 to 9"):
        read_mnist(idx, "train")


def test_sample_that_changed_since_it_was_written_is_refused(tmp_path: Path) -> None:
    fill(tmp_path)
    content = bytearray((tmp_path / SAMPLE_FILE).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / SAMPLE_FILE).write_bytes(content)
    with pytest.raises(DataError, match=f"{SAMPLE_FILE} is damaged: its SHA-256"):
        read_mnist(tmp_path, "train")


@pytest.mark.parametrize("damage", [not_gzip, cut, empty])
def test_damaged_sample_without_a_sum_is_named(
    tmp_path: Path, datasets: Path, damage: object
) -> None:
    assert callable(damage)
    (tmp_path / SAMPLE_FILE).write_bytes((datasets / "mnist" / SAMPLE_FILE).read_bytes())
    damage(tmp_path / SAMPLE_FILE)
    with pytest.raises(DataError, match=f"{SAMPLE_FILE} is damaged"):
        read_mnist(tmp_path, "train")


def test_sample_of_other_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / SAMPLE_FILE, pictures=np.zeros(3))
    with pytest.raises(DataError, match=f"{SAMPLE_FILE} is damaged"):
        read_mnist(tmp_path, "train")
