"""The two process attributes of Linux that keep orphans away; elsewhere these do nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def _prctl() -> Callable[[int, int], int] | None:
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        function = ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, OSError, AttributeError):
        return None
    return lambda option, value: int(function(option, value, 0, 0, 0))


# Loaded here and not in a forked child, which must not import.
_call = _prctl()


def die_with_parent(number: int) -> None:
    """The calling process gets that signal when the thread that forked it ends."""
    if _call is not None:
        _call(_PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Descendants of the calling process whose parent dies become its children."""
    if _call is not None:
        _call(_PR_SET_CHILD_SUBREAPER, 1)
