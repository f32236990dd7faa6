"""Copies a folder of another volume, with what its links lead to."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from workloads.volume.place import Refused


def copy(root: Path, path: str, target: Path, shown: str) -> None:
    """`target` holds what the folder `path` below `root` does; the user calls `root` `shown`.

    Raises Refused for what is not there, cannot be read, is no file, or is a link out of `root`.
    """
    source = root / path
    if not source.is_dir():
        raise Refused(f"{shown} has no folder {path}")
    _copy_folder(root, source, target, shown, ())


def _copy_folder(
    root: Path, source: Path, target: Path, shown: str, above: tuple[Path, ...]
) -> None:
    place = source.resolve()
    name = source.relative_to(root).as_posix()
    if not place.is_relative_to(root.resolve()):
        raise Refused(f"{name} in {shown} is a link that leads out of it")
    if place in above:
        raise Refused(f"{name} in {shown} is a link that leads to a folder it lies in")
    try:
        entries = sorted(os.scandir(source), key=lambda entry: entry.name)
    except OSError as error:
        raise Refused(f"{name} in {shown} cannot be read: {error.strerror}") from None
    for entry in entries:
        path = source / entry.name
        if entry.is_dir():
            (target / entry.name).mkdir()
            _copy_folder(root, path, target / entry.name, shown, (*above, place))
        else:
            _copy_file(root, path, target / entry.name, shown)


def _copy_file(root: Path, source: Path, target: Path, shown: str) -> None:
    name = source.relative_to(root).as_posix()
    try:
        if not source.resolve().is_relative_to(root.resolve()):
            raise Refused(f"{name} in {shown} is a link that leads out of it")
        if not stat.S_ISREG(source.stat().st_mode):
            raise Refused(f"{name} in {shown} is neither a file nor a folder")
        file = source.open("rb")
    except OSError as error:
        raise Refused(f"{name} in {shown} cannot be read: {error.strerror}") from None
    with file, target.open("xb") as copied:
        shutil.copyfileobj(file, copied, 1 << 20)
