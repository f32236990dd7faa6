"""Reads MNIST from the standard IDX files or from the sample of 5,000 images, with numpy alone."""

from __future__ import annotations

import gzip
import hashlib
import zipfile
import zlib
from pathlib import Path

import numpy as np
from runtime import DataError

PIXELS = 28
CLASSES = 10

IDX_FILES = {
    "train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}
SAMPLE_FILE = "mnist-5k.npz"

_UNSIGNED_BYTE = 0x08
_SAMPLE_SPLIT_SEED = 20_250_101
_SAMPLE_HELD_OUT = 1000

Examples = tuple[np.ndarray, np.ndarray]


def read_mnist(directory: Path, split: str) -> Examples:
    """Images (uint8, one per row, 28 x 28) and labels (uint8) of "train" or "test".

    The IDX files win over the sample. Raises DataError naming the path that is missing or damaged.
    """
    names = [name for pair in IDX_FILES.values() for name in pair]
    missing = [name for name in names if not (directory / name).is_file()]
    if not missing:
        return _read_idx(directory, split)
    if len(missing) < len(names):
        raise DataError(f"{directory} lacks {', '.join(missing)} beside its other MNIST files")
    if not (directory / SAMPLE_FILE).is_file():
        raise DataError(f"{directory} holds neither {SAMPLE_FILE} nor {', '.join(names)}")
    return _read_sample(directory / SAMPLE_FILE, split)


def _read_idx(directory: Path, split: str) -> Examples:
    images_name, labels_name = IDX_FILES[split]
    images = _idx_array(directory / images_name, axes=3)
    labels = _idx_array(directory / labels_name, axes=1)
    _check(images, labels, directory / images_name, directory / labels_name)
    return images, labels


def _idx_array(path: Path, axes: int) -> np.ndarray:
    """IDX: two zero bytes, the type, the number of axes, each axis's length (big-endian), data."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is damaged: {error}") from None
    header = 4 + 4 * axes
    if len(content) < header or content[:4] != bytes((0, 0, _UNSIGNED_BYTE, axes)):
        raise DataError(f"{path} is damaged: not an IDX file of bytes with {axes} axes")
    shape = tuple(int(length) for length in np.frombuffer(content[4:header], dtype=">u4"))
    expected = header + int(np.prod(shape, dtype=np.int64))
    if len(content) != expected:
        raise DataError(f"{path} is damaged: {len(content)} bytes unpacked, not {expected}")
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)


def _read_sample(path: Path, split: str) -> Examples:
    """The sample is sorted by label; a fixed shuffle sets the same 1,000 images apart each time."""
    _check_sum(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            images, labels = arrays["images"], arrays["labels"]
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged: {error}") from None
    _check(images, labels, path, path)
    if len(images) <= _SAMPLE_HELD_OUT:
        raise DataError(f"{path} is damaged: it has {len(images)} images only")
    order = np.random.default_rng(_SAMPLE_SPLIT_SEED).permutation(len(images))
    chosen = order[_SAMPLE_HELD_OUT:] if split == "train" else order[:_SAMPLE_HELD_OUT]
    return images[chosen], labels[chosen]


def _check_sum(path: Path) -> None:
    recorded = path.with_name(f"{path.name}.sha256")
    if not recorded.is_file():
        return
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if recorded.read_text(encoding="utf-8", errors="replace").split()[:1] != [digest]:
        raise DataError(f"{path} is damaged: its SHA-256 is not the one in {recorded.name}")


def _check(images: np.ndarray, labels: np.ndarray, images_path: Path, labels_path: Path) -> None:
    if images.dtype != np.uint8 or images.ndim != 3 or images.shape[1:] != (PIXELS, PIXELS):
        raise DataError(f"{images_path} is damaged: its images are not {PIXELS} x {PIXELS} bytes")
    if labels.shape != (len(images),):
        raise DataError(f"{labels_path} is damaged: {labels.size} labels for {len(images)} images")
    if not len(labels) or labels.dtype != np.uint8 or labels.max() >= CLASSES:
        raise DataError(f"{labels_path} is damaged: labels are not numbers from 0 to 9")
