"""The end of a run of several workers: none leaves before all know that it is over.

A marker on the shared directory alone does not tell in time, for a file system such as NFS shows
a new file up to a minute late. So all take part in one more exchange, which the leader enters when
everything is done; the marker counts where the exchange fails.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NoReturn

from runtime import guards
from runtime.errors import PEER_LOST
from runtime.peer_loss import is_peer_loss
from runtime.run import Run

_EXCHANGE_SECONDS = 60.0
_LEAVE_SECONDS = 10.0
_SILENT_SECONDS = 90.0
"""Longer than NFS keeps what it knows of a directory (acdirmax, 60 s)."""


def leave_as_leader(run: Run, exchange: Callable[[], object]) -> NoReturn:
    """Ends the process with 0, after the others if they leave in time."""
    limit = threading.Timer(_EXCHANGE_SECONDS, guards.end_process, (0,))
    limit.daemon = True
    limit.start()
    try:
        exchange()
    except Exception as error:
        print(f"the others may have left before: {type(error).__name__}", flush=True)
    limit.cancel()
    # To return would destroy the strategy, which waits seconds for those who left.
    guards.wait_until_gone(run.cluster.peers, _LEAVE_SECONDS)
    guards.end_process(0)


def leave_with_leader(run: Run, exchange: Callable[[], object]) -> NoReturn:
    """Ends the process with 0 once the leader has finished the run; raises what keeps it from it.

    Raises DivergedError if the leader says that the training diverged.
    """
    threading.Thread(target=_watch_leader, args=(run,), daemon=True).start()
    try:
        exchange()
    except Exception as error:
        if not is_peer_loss(error):
            raise
        # A leader that was started again either finishes the run alone or waits for its peers.
        ends = time.monotonic() + _SILENT_SECONDS
        while time.monotonic() < ends and not guards.answers(run.cluster.leader):
            run.leave_if_over()
            time.sleep(0.5)
        raise
    run.progress.update(phase="done")
    guards.end_process(0)


def _watch_leader(run: Run) -> None:
    """An exchange with a machine that is gone, not only its process, would never end."""
    seen = time.monotonic()
    while time.monotonic() - seen < _SILENT_SECONDS:
        if guards.answers(run.cluster.leader):
            seen = time.monotonic()
        time.sleep(1.0)
    if run.is_finished():
        guards.end_process(0)
    guards.end_process(
        PEER_LOST, f"lost {run.cluster.leader}: it did not answer for {_SILENT_SECONDS:g} s"
    )
