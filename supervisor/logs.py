"""The log file of one replica: masked lines, rotated, and readable from its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from .masking import LineMasker

ROTATE_BYTES = 50 * 1024 * 1024
READ_BYTES = 256 * 1024


def log_path(state_directory: str, replica: str) -> str:
    """Where a replica's output is; the part before the last rotation is beside it, with `.1`."""
    return os.path.join(state_directory, "logs", f"{replica}.log")


_STARTED = b"--- started at "


class ReplicaLog:
    """Appends to a log file; the file and one older one hold at most about twice `limit` bytes.

    When the disk is full, output is dropped; `complain` is told once, and the log says how much
    is missing as soon as it can be written again.
    """

    def __init__(
        self,
        path: str,
        secrets: tuple[bytes, ...],
        complain: Callable[[str], None],
        limit: int = ROTATE_BYTES,
    ) -> None:
        self._path = path
        self._limit = limit
        self._masker = LineMasker(secrets)
        self._complain = complain
        self._file = -1
        self._size = 0
        self._dropped = 0
        self._in_line = False

    @property
    def pending(self) -> bool:
        """Whether an incomplete line waits for `idle`."""
        return self._masker.pending

    def separator(self, now: float, attempt: int) -> None:
        """A line that tells one start from the one before; none at the head of a new file."""
        self._open()
        if self._size:
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
            line = b"%s%s, attempt %d ---\n" % (_STARTED, when.encode(), attempt)
            self._write(b"\n" + line if self._in_line else line)

    def feed(self, chunk: bytes) -> None:
        """Takes output as it comes."""
        self._write(self._masker.feed(chunk))

    def idle(self) -> None:
        """Writes the incomplete line, as far as it cannot be the beginning of a secret."""
        self._write(self._masker.idle())

    def close(self) -> None:
        """Writes the rest; the next output opens the file again."""
        self._write(self._masker.close())
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        if self._file >= 0:
            return
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._file = os.open(self._path, flags, 0o600)
            self._size = os.fstat(self._file).st_size
        except OSError as error:
            self._drop(0, error)

    def _write(self, text: bytes) -> None:
        if not text:
            return
        self._open()
        if self._file < 0:
            self._drop(len(text), None)
            return
        try:
            if self._dropped:
                note = b"--- %d bytes of output are missing here ---\n" % self._dropped
                self._append(note)
                self._dropped = 0
            self._append(text)
            self._in_line = not text.endswith(b"\n")
            if self._size >= self._limit:
                self._rotate()
        except OSError as error:
            self._drop(len(text), error)

    def _append(self, text: bytes) -> None:
        view = memoryview(text)
        while view:
            written = os.write(self._file, view)
            self._size += written
            view = view[written:]

    def _rotate(self) -> None:
        os.close(self._file)
        self._file = -1
        os.replace(self._path, self._path + ".1")

    def _drop(self, size: int, error: OSError | None) -> None:
        if not self._dropped and error is not None:
            self._complain(f"{self._path}: output is dropped: {error.strerror}")
        self._dropped += size


def tail_lines(path: str, lines: int) -> list[str]:
    """The last lines of a log, at most so many; bytes that are not UTF-8 are shown as U+FFFD."""
    found: list[bytes] = []
    for name in (path, path + ".1"):
        if len(found) < lines:
            found = _last_lines(name, lines - len(found)) + found
    return [line.rstrip(b"\r").decode("utf-8", "replace") for line in found]


def since_start(lines: list[str]) -> list[str]:
    """Those of the log's last lines that were written since the last start."""
    starts = [i for i, line in enumerate(lines) if line.startswith(_STARTED.decode())]
    return lines[starts[-1] + 1 :] if starts else lines


def _last_lines(path: str, lines: int) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            position = file.seek(0, os.SEEK_END)
            text = b""
            while position > 0 and text.count(b"\n") <= lines:
                step = min(READ_BYTES, position)
                position -= step
                file.seek(position)
                text = file.read(step) + text
    except OSError:
        return []
    return text.removesuffix(b"\n").split(b"\n")[-lines:] if text and lines > 0 else []
