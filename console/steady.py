"""Looks at a source that may not answer for a while."""

from __future__ import annotations

import time

from cluster.errors import ClusterError, UnreachableError
from console.look import Look
from console.source import Source


class Steady:
    """While the source cannot be asked, the last look stays, with notes that say since when."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._last: Look | None = None
        self._since: float | None = None

    def look(self) -> tuple[Look | None, tuple[str, ...]]:
        """The newest look, None before there was any, and what is to be said above it."""
        try:
            self._last = self._source.look()
        except ClusterError as error:
            now = time.time()
            self._since = self._since or now
            return self._last, notes(error, self._since)
        self._since = None
        return self._last, ()


def notes(error: ClusterError, since: float) -> tuple[str, ...]:
    """What is to be said of a cluster that has not let itself be asked since then, Unix seconds."""
    clock = time.strftime("%H:%M:%S", time.localtime(since))
    if isinstance(error, UnreachableError):
        return f"cluster not reachable since {clock} – keeps trying", str(error)
    return f"cluster not to be asked since {clock} – keeps trying", str(error)
