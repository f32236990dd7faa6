"""What the MNIST dataset directory holds and lacks. Asked at every preview, so NumPy stays out."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

SAMPLE = "mnist-5k.npz"
SAMPLE_SUM = f"{SAMPLE}.sha256"
#: The standard files; who has them puts them here, and then no sample is made.
IDX_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)

_ABSENT = (errno.ENOENT, errno.ENOTDIR)


class DatasetError(ValueError):
    """A dataset cannot be filled or is damaged; the message names the path, in one line."""


def has_own_files(directory: Path) -> bool:
    """Whether the user put files of MNIST there. Raises DatasetError when that cannot be told."""
    return any(_is_there(directory / name) for name in IDX_FILES)


def missing(directory: Path) -> tuple[str, ...]:
    """The names of the sample's files that are to be made; none where the user's own files are.

    Raises DatasetError for a sample that is damaged, which is never overwritten since it may be
    the user's, and for what cannot be read. Reads the sample whole, which takes a millisecond.
    """
    if has_own_files(directory):
        return ()
    if not _is_there(directory / SAMPLE):
        # With its sum, which belongs to the sample that is gone.
        return (SAMPLE, SAMPLE_SUM)
    digest = hashlib.sha256(_read(directory / SAMPLE)).hexdigest()
    if not _is_there(directory / SAMPLE_SUM):
        return (SAMPLE_SUM,)
    recorded = _read(directory / SAMPLE_SUM).decode("ascii", errors="replace").split()
    if recorded[:1] != [digest]:
        raise DatasetError(
            f"{directory / SAMPLE} is damaged: its SHA-256 is not the one in {SAMPLE_SUM}; "
            "remove it and it is made again"
        )
    return ()


def _is_there(path: Path) -> bool:
    """Also a link that leads nowhere: what stands at `path` is not to be replaced."""
    try:
        path.lstat()
    except OSError as error:
        if error.errno in _ABSENT:
            return False
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from None
    return True


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from None
