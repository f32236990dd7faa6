"""Free TCP ports of this machine, each handed out once."""

import fcntl
import os
import random
import socket
import tempfile
import threading
from pathlib import Path

from provider.kinds import ProviderError

_RANGE = range(15000, 30000)
"""Below the ephemeral range of Linux (32768 and up) and of macOS (49152 and up): no outgoing
connection can take a port of these between our look and the replica's bind."""

_handed_out: dict[int, int | None] = {}
"""Port → the open file whose lock tells other processes; None where there is none."""
_lock = threading.Lock()


def is_free(port: int) -> bool:
    """Whether a program could listen on `port` now, on the loopback interface and on all of them:
    a TensorFlow server takes them all."""
    return all(_can_bind(host, port) for host in ("127.0.0.1", ""))


def claim(port: int) -> bool:
    """Whether `port` is free and the caller's from now on: until `release` or the end of this
    process no other call gets it, not even in the process of another stack's `up`."""
    with _lock:
        if port in _handed_out or not is_free(port):
            return False
        try:
            _handed_out[port] = _claim_for_this_user(port)
        except BlockingIOError:
            return False
        return True


def release(port: int) -> None:
    """Afterwards `port` can be claimed again; nothing happens where it was not claimed."""
    with _lock:
        handle = _handed_out.pop(port, None)
        if handle is not None:
            os.close(handle)


def free_ports(count: int) -> list[int]:
    """Different ports that are free now, each handed out once; ProviderError when the machine has
    not that many."""
    found: list[int] = []
    with _lock:
        for port in random.sample(_RANGE, len(_RANGE)):
            if len(found) == count:
                break
            if port not in _handed_out and is_free(port):
                found.append(port)
        if len(found) < count:
            raise ProviderError(f"no {count} free ports between {_RANGE.start} and {_RANGE.stop}")
        _handed_out.update(dict.fromkeys(found))
    return found


def _can_bind(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _claim_for_this_user(port: int) -> int | None:
    """An open, locked file that stands for `port`; None without a place for such files, where only
    a second stack in the same second can go wrong. BlockingIOError when another process has it.

    The program that will listen on it takes a second to come up, and until then only this tells.
    """
    folder = Path(tempfile.gettempdir(), f"ack-training-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.lstat().st_uid != os.getuid():
            return None
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(folder / str(port), flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    return handle
