"""A tiny process that cleans up after a supervisor which died, however it died."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import NoReturn

from . import control
from .sweep import HAVE_PROC, kill_all, marked_replicas, send_group


class Guardian:
    """The supervisor's side: a child that waits for the supervisor's end.

    The child holds a copy of the lock, so the state directory counts as in use until nothing of
    the supervisor is left. It learns of the supervisor's death because only the supervisor holds
    the other end of its pipe.
    """

    def __init__(self, state_directory: str, lock: int) -> None:
        self._state_directory = state_directory
        self._lock = lock
        self._pipe = -1
        self.pid = 0
        self._groups: set[int] = set()

    def start(self) -> None:
        """Forks the guardian, again when the last one died. No thread may run in this process."""
        if self._pipe >= 0:
            os.close(self._pipe)
        reading, self._pipe = os.pipe()
        # A stopped guardian must not stop the supervisor.
        os.set_blocking(self._pipe, False)
        self.pid = os.fork()
        if self.pid == 0:
            _guard(self._state_directory, self._lock, reading)
        os.close(reading)
        for group in self._groups:
            self._tell(group)

    @property
    def homeless(self) -> bool:
        """Whether the state directory was moved or deleted, so that nobody can control the
        supervisor any more."""
        return control.is_elsewhere(self._state_directory, self._lock)

    @property
    def replaced(self) -> bool:
        """Whether another supervisor has made the state directory anew."""
        return control.is_replaced(self._state_directory, self._lock)

    def watch(self, group: int) -> None:
        """Tells the guardian of a new process group, which it needs where there is no /proc."""
        self._groups.add(group)
        self._tell(group)

    def forget(self, group: int) -> None:
        """The group is gone, its number may be used by others."""
        self._groups.discard(group)
        self._tell(-group)

    def _tell(self, number: int) -> None:
        if not HAVE_PROC:
            with contextlib.suppress(OSError):
                os.write(self._pipe, b"%d\n" % number)


def _guard(state_directory: str, lock: int, pipe: int) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        os.setsid()
        for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(ignored, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _close_all_but({0, 1, 2, lock, pipe})
        heard = b""
        while chunk := os.read(pipe, 65536):
            heard += chunk
        groups: set[int] = set()
        for line in heard.splitlines():
            number = int(line)
            groups = groups | {number} if number > 0 else groups - {-number}
        for group in groups:
            send_group(group, signal.SIGKILL)
        if control.is_replaced(state_directory, lock):
            os._exit(0)
        # A process in the middle of a disk write cannot die yet; the lock tells of it until then.
        while kill_all(lambda: marked_replicas(state_directory), seconds=60.0):
            time.sleep(1.0)
    finally:
        os._exit(0)


def _close_all_but(kept: set[int]) -> None:
    begin = 0
    for number in sorted(kept):
        # closerange(0, 0) would close everything.
        if begin < number:
            os.closerange(begin, number)
        begin = number + 1
    os.closerange(begin, max(begin, 4096))
