"""Unpacks an archive, and nothing of it outside the folder that it is unpacked into."""

from __future__ import annotations

import contextlib
import os
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Literal

from workloads.volume.place import Refused

_TAR_MODES: dict[str, Literal["r|", "r|gz"]] = {".tar.gz": "r|gz", ".tgz": "r|gz", ".tar": "r|"}
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)


def is_archive(name: str) -> bool:
    """Whether a file of that name is unpacked."""
    return name.lower().endswith((*_TAR_MODES, ".zip"))


def unpack(archive: Path, name: str, folder: Path) -> None:
    """`folder` holds what is in `archive`, a file that is called `name`. Raises Refused for one
    that is broken, or holds anything that would be or lead outside the folder."""
    try:
        if name.lower().endswith(".zip"):
            _unzip(archive, name, folder)
        else:
            _untar(archive, name, folder)
    except tarfile.FilterError as error:
        raise Refused(f"{name} is not unpacked: {error}") from None
    except _BROKEN as error:
        raise Refused(f"{name} cannot be unpacked: {error}") from None


def _untar(archive: Path, name: str, folder: Path) -> None:
    mode = next(mode for suffix, mode in _TAR_MODES.items() if name.lower().endswith(suffix))
    # As a stream, and without keeping what was read: there are archives of millions of files.
    with tarfile.open(archive, mode) as tar:
        while (member := tar.next()) is not None:
            _check(name, member.name)
            # A hard link to what the archive does not hold: Python's releases differ in it.
            with contextlib.suppress(KeyError):
                tar.extract(member, folder, filter="data")
            if not os.path.lexists(folder / member.name):
                raise Refused(f"{name} cannot be unpacked: {member.name!r} leads to nothing")
            tar.members = []  # type: ignore[attr-defined]


def _unzip(archive: Path, name: str, folder: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            _check(name, member.filename)
            if stat.S_ISLNK(member.external_attr >> 16):
                raise Refused(f"{name} is not unpacked: {member.filename!r} is a link")
            if member.flag_bits & 1:
                raise Refused(f"{name} cannot be unpacked: {member.filename!r} has a password")
            file.extract(member, folder)


def _check(name: str, member: str) -> None:
    path = PurePosixPath(member)
    if path.is_absolute() or ".." in path.parts:
        raise Refused(f"{name} is not unpacked: {member!r} leads out of its folder")
