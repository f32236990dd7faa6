"""How others tell a running supervisor what to do: small files in its state directory.

`lock` is locked as long as the supervisor or what it left behind exists, and holds its pid;
`suspend` exists while the job is to be suspended; `stop` holds the grace in seconds of a stop.
"""

from __future__ import annotations

import contextlib
import fcntl
import os

DEFAULT_GRACE_SECONDS = 10.0


def path(state_directory: str, name: str) -> str:
    """The file `lock`, `suspend`, `stop`, `spec.json` or `supervisor.log`."""
    return os.path.join(state_directory, name)


def try_lock(state_directory: str) -> int | None:
    """The locked file, None when another process holds the lock. Raises OSError."""
    lock = os.open(path(state_directory, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def is_locked(state_directory: str) -> bool:
    """Whether a supervisor (or its guardian, cleaning up) holds the lock.

    Asked with a shared lock, which others who ask at the same time do not take for a supervisor.
    """
    try:
        lock = os.open(path(state_directory, "lock"), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def is_elsewhere(state_directory: str, lock: int) -> bool:
    """Whether the locked file is no longer that of the directory: it was moved or deleted, and
    whoever asks there next cannot know of the holder."""
    try:
        return not os.path.samestat(os.stat(path(state_directory, "lock")), os.fstat(lock))
    except FileNotFoundError:
        return True
    except OSError:
        # A disk that does not answer is no reason to end anything.
        return False


def is_replaced(state_directory: str, lock: int) -> bool:
    """Whether another supervisor made the directory anew: what is marked with it is not ours."""
    there = os.path.exists(path(state_directory, "lock"))
    return there and is_elsewhere(state_directory, lock)


def write_pid(lock: int) -> None:
    """Notes the calling process as the holder of the lock."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, b"%d\n" % os.getpid(), 0)


def read_pid(state_directory: str) -> int | None:
    """The supervisor that last held the lock."""
    try:
        with open(path(state_directory, "lock"), encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def ask_suspend(state_directory: str, wanted: bool) -> None:
    """Sets whether the job is to be suspended. Raises OSError."""
    name = path(state_directory, "suspend")
    if wanted:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600))
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def suspend_wanted(state_directory: str) -> bool:
    """Whether the job is to be suspended."""
    return os.path.exists(path(state_directory, "suspend"))


def ask_grace(state_directory: str, seconds: float) -> None:
    """Notes the grace of the stop that follows. Raises OSError."""
    with open(path(state_directory, "stop"), "w", encoding="ascii") as file:
        file.write(f"{seconds}\n")


def take_grace(state_directory: str) -> float | None:
    """The grace of the stop that was asked for, once; None when nobody asked."""
    name = path(state_directory, "stop")
    try:
        with open(name, encoding="ascii") as file:
            text = file.read()
        os.unlink(name)
        return float(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return DEFAULT_GRACE_SECONDS
