"""The ended children of this process, the orphans that it inherited among them."""

from __future__ import annotations

import os

_statuses: dict[int, int] = {}
"""Of children that could not be looked at without being taken out of the process table."""


def next_dead() -> int | None:
    """A child that ended, not yet taken out of the process table where that can be chosen."""
    try:
        if hasattr(os, "waitid"):
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            return None if found is None else found.si_pid
        pid, status_word = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    _statuses[pid] = status_word
    return pid or None


def reap(pid: int) -> int:
    """The status word of a child that `next_dead` named; afterwards it is gone."""
    return _statuses.pop(pid) if pid in _statuses else os.waitpid(pid, 0)[1]
