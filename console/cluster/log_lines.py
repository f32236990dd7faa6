"""The lines of a container's log, each once, however often the log is asked for: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

_STAMPED = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) (.*)", re.DOTALL
)
Stamp = tuple[float, int]
"""Seconds since 1970, and nanoseconds, which are more than one number holds."""


class LogLines:
    """What of a log was shown. `timestamps=true` has each line begin with its time."""

    def __init__(self) -> None:
        self._last: Stamp | None = None
        self._at_last = 0

    @property
    def since(self) -> dict[str, str]:
        """The query for the lines that were not shown yet, and those of the second before them:
        the kubelet knows no fractions."""
        if self._last is None:
            return {}
        return {"sinceTime": datetime.fromtimestamp(self._last[0], UTC).strftime("%FT%TZ")}

    def unseen(self, pieces: Iterable[bytes]) -> Iterator[str]:
        """The lines of one answer that were not shown yet, without their times."""
        again = 0
        for line in _lines(pieces):
            stamp, text = _split(line)
            if stamp is None:
                # The kubelet's own word, such as that the log cannot be read.
                yield text
                continue
            if self._last is not None and stamp < self._last:
                continue
            if stamp == self._last:
                again += 1
                if again <= self._at_last:
                    continue
                self._at_last = again
            else:
                self._last, self._at_last, again = stamp, 1, 1
            yield text


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace") + "\n"
    if rest:
        # A container that has ended in the middle of a line.
        yield rest.decode(errors="replace")


def _split(line: str) -> tuple[Stamp | None, str]:
    found = _STAMPED.fullmatch(line)
    if found is None:
        return None, line
    seconds, fraction, zone, text = found.groups()
    try:
        at = datetime.fromisoformat(seconds + zone.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None, line
    return (at, int((fraction or "").ljust(9, "0"))), text
