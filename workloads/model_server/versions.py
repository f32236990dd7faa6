"""Which versions a model's base directory offers. Reads directories only; imports nothing heavy."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

#: Version numbers are int64 in TensorFlow Serving's API.
MAX_VERSION = 2**63 - 1

#: A SavedModel has one of these; where it has both, TensorFlow reads the first.
MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")

#: What a directory looks like to ``fingerprint``: every file with its size and change time.
Fingerprint = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class VersionDirectory:
    """One complete-looking SavedModel directory and the version number its name says."""

    number: int
    path: Path


def version_number(name: str) -> int | None:
    """The version a directory name stands for, or None when it is no version.

    TensorFlow Serving takes any name that is a whole number, leading zeros included; names such
    as ``v1``, ``1.tmp`` or ``.tmp-3`` are never versions.
    """
    if not (name.isascii() and name.isdigit()):
        return None
    number = int(name) if len(name) <= 64 else MAX_VERSION + 1
    return number if number <= MAX_VERSION else None


def scan(base: Path) -> list[VersionDirectory]:
    """The versions under ``base``, newest first; empty when ``base`` does not exist yet.

    A directory that cannot be looked into is among them: loading it tells why, and is no reason
    to pass over the others. Raises OSError when ``base`` itself exists and cannot be read.
    """
    found: dict[int, Path] = {}
    try:
        names = sorted(os.listdir(base))
    except FileNotFoundError:
        return []
    for name in names:
        number = version_number(name)
        # Sorted order makes "01" win over "1": the choice must not depend on the file system.
        if number is None or number in found:
            continue
        path = base / name
        if _may_hold_model(path):
            found[number] = path
    return [VersionDirectory(number, found[number]) for number in sorted(found, reverse=True)]


def none_left(base: Path) -> bool:
    """Whether ``base`` exists without a single name that is a version, complete or not.

    That is what makes TensorFlow Serving unload; a base directory that is gone or cannot be read
    is none, since a shared directory may be away for a moment.
    """
    try:
        return all(version_number(name) is None for name in os.listdir(base))
    except OSError:
        return False


def _may_hold_model(path: Path) -> bool:
    for name in MODEL_FILES:
        try:
            mode = os.stat(path / name).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return True
        if stat.S_ISREG(mode):
            return True
    return False


def fingerprint(path: Path) -> Fingerprint:
    """The files below ``path`` with size and change time, to see whether a broken version changed.

    Files that vanish while it looks are left out.
    """
    seen: list[tuple[str, int, int]] = []
    for directory, _, files in os.walk(path):
        for name in files:
            file = os.path.join(directory, name)
            try:
                status = os.stat(file)
            except OSError:
                continue
            seen.append((os.path.relpath(file, path), status.st_size, status.st_mtime_ns))
    return tuple(sorted(seen))


def next_to_load(
    offered: Iterable[VersionDirectory],
    serving: int | None,
    broken: Mapping[int, Fingerprint],
) -> VersionDirectory | None:
    """The version to load now, or None when the one being served is the right one.

    ``offered`` is newest first. A version that failed before is passed over until its files
    change, so that a copy still under way is tried again and a broken one is not retried for
    ever. When the newest is broken an older one is used.
    """
    for version in offered:
        if version.number == serving:
            return None
        failed = broken.get(version.number)
        if failed is None or failed != fingerprint(version.path):
            return version
    return None
