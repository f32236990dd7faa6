"""Looks at the health of a service from time to time, without ever waiting for the answer."""

from __future__ import annotations

import selectors

from .health import HealthCheck
from .spec import Health

LOOK_SECONDS, LOOK_SECONDS_READY = 0.5, 5.0


class HealthWatch:
    """Asks one URL, one request at a time. `selector` wakes its owner, who then calls `go_on`."""

    def __init__(self, health: Health, selector: selectors.BaseSelector) -> None:
        self._url = health.url
        self._selector = selector
        self._check: HealthCheck | None = None
        self._next = 0.0

    def look(self, now: float, running: bool) -> bool | None:
        """The answer to a request that has ended since the last call, else None. Begins the next
        one when it is due and the service has a process."""
        if self._check is None and now >= self._next and running:
            self._check = HealthCheck(self._url, now)
            if self._check.result is None:
                self._selector.register(self._check.fileno(), selectors.EVENT_WRITE, self._check)
        elif self._check is not None and self._check.result is None and now >= self._check.deadline:
            self._selector.unregister(self._check.fileno())
            self._check.end(False)
        if self._check is None or self._check.result is None:
            return None
        healthy, self._check = self._check.result, None
        self._next = now + (LOOK_SECONDS_READY if healthy else LOOK_SECONDS)
        return healthy

    def look_soon(self) -> None:
        """The next look is not put off: something has happened to the service."""
        self._next = 0.0

    def go_on(self, check: HealthCheck) -> None:
        """Takes the request as far as its socket lets it."""
        number, wrote = check.fileno(), check.writing
        check.advance()
        if check.result is not None:
            self._selector.unregister(number)
        elif wrote and not check.writing:
            self._selector.modify(number, selectors.EVENT_READ, check)
