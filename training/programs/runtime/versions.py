"""Numbered directories of exported models, each whole from the moment it can be seen.

TensorFlow Serving serves only directories named by an integer and may look while one is being
written (https://github.com/tensorflow/serving/issues/1086), so a version is written aside, under a
name Serving passes over, and renamed.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import socket
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from runtime.progress import read_json, write_json

_RECORD = Path("assets.extra") / "ack-training.json"
_OWNER = "owner.json"


@dataclass(frozen=True)
class Origin:
    """What a version was made from; `checkpoint` is a digest of the checkpoint's content, `program`
    of what serves it, for another serve() makes another model of the same weights."""

    job: str
    run: int
    step: int
    checkpoint: str
    program: str


def exported_version(directory: Path, origin: Origin) -> int | None:
    """The version that was made from `origin`, if there is one."""
    wanted = asdict(origin)
    for version in sorted(_versions(directory)):
        if read_json(directory / str(version) / _RECORD) == wanted:
            return version
    return None


def publish(directory: Path, origin: Origin, write: Callable[[Path], None]) -> int:
    """A new version in `directory` holds what `write` put into the directory it was given.

    Returns its number, one above the highest there. A number is never used twice: of two
    processes that publish at once, the later one takes the next number.
    """
    directory.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(directory, origin)
    aside = directory / f"{_aside_prefix(origin)}{uuid.uuid4().hex}"
    aside.mkdir()
    write_json(aside / _OWNER, {"host": socket.gethostname(), "pid": os.getpid()})
    content = aside / "model"
    write(content)
    write_json(content / _RECORD, asdict(origin))
    _sync(content)
    version = _rename_to_next(content, directory)
    _sync_directory(directory)
    shutil.rmtree(aside)
    return version


def _rename_to_next(content: Path, directory: Path) -> int:
    """A rename onto a version that exists fails, for no version is an empty directory."""
    identity = content.stat().st_ino
    while True:
        version = max(_versions(directory), default=0) + 1
        target = directory / str(version)
        try:
            os.rename(content, target)
        except FileNotFoundError:
            # A request that NFS sent again finds done what its first copy did.
            if not _is_inode(target, identity):
                raise
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
            continue
        return version


def _is_inode(path: Path, number: int) -> bool:
    try:
        return path.stat().st_ino == number
    except FileNotFoundError:
        return False


def _versions(directory: Path) -> list[int]:
    if not directory.is_dir():
        return []
    names = [entry.name for entry in directory.iterdir()]
    return [int(name) for name in names if re.fullmatch(r"[0-9]+", name, re.ASCII)]


def _aside_prefix(origin: Origin) -> str:
    return f".exporting-{origin.job}-run-{origin.run}-"


def _remove_leftovers(directory: Path, origin: Origin) -> None:
    """What an export of this run left when it was killed, and nothing else, is gone."""
    pattern = re.compile(re.escape(_aside_prefix(origin)) + "[0-9a-f]{32}")
    for entry in directory.iterdir():
        if pattern.fullmatch(entry.name) and _is_abandoned(entry):
            shutil.rmtree(entry)


def _is_abandoned(aside: Path) -> bool:
    owner = read_json(aside / _OWNER)
    pid = owner.get("pid")
    if owner.get("host") != socket.gethostname() or not isinstance(pid, int):
        return False
    # A container that was started again has the name and the process id of the one before.
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _sync(directory: Path) -> None:
    for parent, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:
                os.fsync(file.fileno())
        _sync_directory(Path(parent))


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
