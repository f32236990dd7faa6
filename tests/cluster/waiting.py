"""Waits for what is told by nobody."""

import time
from collections.abc import Callable


def until(reached: Callable[[], bool], seconds: float = 60.0) -> None:
    """Asks again and again; fails when `reached` is still false after `seconds`."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
