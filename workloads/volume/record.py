"""What a dataset holds, written down when it was filled, so that damage can be told."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workloads.volume.place import Refused

RECORD = ".ack-training.jsonl"
"""In a dataset's folder: a line on its source, then one for each file. Lines, and not one document,
as there are datasets of millions of files."""

_CHUNK_BYTES = 1 << 20


def write_record(folder: Path, source: str) -> int:
    """Writes down what `folder` holds, which is on disk afterwards; returns the number of files.

    Raises Refused for what is no file, and for a link out of the folder.
    """
    if os.path.lexists(folder / RECORD):
        raise Refused(f"the data holds a file {RECORD}, a name that is needed for its record")
    count = 0
    entries = sorted(_entries(folder))
    with (folder / RECORD).open("x", encoding="ascii") as record:
        record.write(json.dumps({"source": source}) + "\n")
        for path in entries:
            record.write(json.dumps(_entry(folder, path)) + "\n")
            count += 1
        record.flush()
        os.fsync(record.fileno())
    return count


def recorded_source(folder: Path) -> str | None:
    """What `folder` was filled from; None where there is no record. Raises Refused for a record
    that cannot be read."""
    if not os.path.lexists(folder / RECORD):
        return None
    source = next(_lines(folder), {}).get("source")
    if not isinstance(source, str):
        raise Refused(_unreadable(folder))
    return source


def damages(folder: Path) -> Iterator[tuple[str, str]]:
    """Each recorded file that is not there as it was recorded, with what is wrong. Files that came
    later count as the user's."""
    for entry in _lines(folder):
        path = entry.get("path")
        if not isinstance(path, str):
            continue
        file = folder / path
        try:
            if "link" in entry:
                if os.readlink(file) != entry["link"]:
                    yield path, "leads elsewhere"
            elif file.stat().st_size != entry["size"]:
                yield path, f"is {file.stat().st_size} bytes long, not {entry['size']}"
            elif _sum(file) != entry["sha256"]:
                yield path, "has another SHA-256 than the one recorded"
        except (FileNotFoundError, NotADirectoryError):
            yield path, "is missing"
        except OSError as error:
            yield path, f"cannot be read ({error.strerror})"


def _entries(folder: Path) -> Iterator[str]:
    for directory, folders, files in os.walk(folder, onerror=_raise):
        # A folder of an archive or an image may be read-only; it is to be moved.
        mode = stat.S_IMODE(os.stat(directory).st_mode)
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(directory, mode | stat.S_IRWXU)
        links = [name for name in folders if os.path.islink(os.path.join(directory, name))]
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(directory, name), folder)


def _entry(folder: Path, path: str) -> dict[str, Any]:
    file = folder / path
    status = file.lstat()
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(file)
        if os.path.isabs(target) or not file.resolve().is_relative_to(folder.resolve()):
            raise Refused(f"the data holds a link that leads out of it: {path!r}")
        return {"path": path, "link": target}
    if not stat.S_ISREG(status.st_mode):
        raise Refused(f"the data holds something that is no file: {path!r}")
    return {"path": path, "size": status.st_size, "sha256": _sum(file, keep=True)}


def _sum(path: Path, *, keep: bool = False) -> str:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
        if keep:
            # On disk before the folder gets its name.
            os.fsync(file.fileno())
    return digest.hexdigest()


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    try:
        with (folder / RECORD).open(encoding="ascii") as record:
            for line in record:
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise Refused(_unreadable(folder))
                yield entry
    except (OSError, ValueError):
        raise Refused(_unreadable(folder)) from None


def _unreadable(folder: Path) -> str:
    return (
        f"{folder.name}/{RECORD} cannot be read: remove the folder and it is filled again, or only "
        "this file to keep the rest as your own"
    )


def _raise(error: OSError) -> None:
    raise error
