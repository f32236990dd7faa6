"""Where things lie, in the checkout and outside it, and how two set-ups at once wait for each
other."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolchain.report import Stop, say

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: the folder of Pulumi.yaml."""

VENV = ROOT / ".venv"
STATE = ROOT / ".pulumi-state"
"""Pulumi's file backend, for users who have no backend of their own."""


def cache() -> Path:
    """Built and downloaded programs, shared by all checkouts of this user; safe to delete."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def passphrase_file() -> Path:
    """The passphrase of the stacks in the file backend; not safe to delete."""
    return _user_folder("XDG_CONFIG_HOME", ".config") / "passphrase"


def _user_folder(variable: str, default: str) -> Path:
    # The XDG base directory specification has relative paths ignored.
    given = Path(os.environ.get(variable, ""))
    base = given if given.is_absolute() else Path.home() / default
    return base / "ack-training"


def file_backend(folder: Path) -> str:
    """URL of Pulumi's file backend in `folder`. Without `metadata=skip` each write of a state also
    empties and fills a file `.attrs` beside it, which nobody needs; an engine killed between the
    two leaves a stack that no command can read (`failed to load checkpoint: EOF`)."""
    return f"{folder.as_uri()}?metadata=skip"


def make_folder(path: Path, mode: int = 0o755) -> None:
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise Stop(f"cannot make the folder {path}: {error.strerror}") from error


@contextmanager
def exclusively(folder: Path, what: str) -> Iterator[None]:
    """Holds `folder` against other set-ups, waiting for one that has it. Released also when this
    process dies."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting for another process that is {what}…")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
