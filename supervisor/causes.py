"""Sentences about how a process ended, and which of several failures was the first cause."""

from __future__ import annotations

import signal

from .state import Exit, Failure

# A replica exits with this code when it lost a peer: a consequence of that peer's failure.
PEER_LOST = 138
# Failures that follow one another this closely belong together, as peers notice within seconds.
TOGETHER_SECONDS = 10.0
OFTEN_OUT_OF_MEMORY = 137


def describe_exit(end: Exit | Failure) -> str:
    """What happened, to follow a replica's name: "exited with code 137: killed by …"."""
    code = end.code if isinstance(end, Exit) else end.exit_code
    text = f"exited with code {code}"
    if end.signal is not None:
        text += f": killed by signal {end.signal} ({signal_name(end.signal)})"
    if code == OFTEN_OUT_OF_MEMORY:
        text += ", often out of memory"
    elif code == PEER_LOST and end.signal is None:
        text += ": it lost another replica"
    return text


def signal_name(number: int) -> str:
    """ "SIGKILL" for 9; "unknown" for a number without a name here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def first_failure(failures: tuple[Failure, ...]) -> Failure | None:
    """The failure that began the last series of failures, none when nothing failed.

    A series is a run of failures at most 10 s apart. When its first is the loss of a peer, the
    first one within 10 s that is something else was the cause, though its process ended later.
    """
    if not failures:
        return None
    begin = len(failures) - 1
    while begin > 0 and failures[begin].at - failures[begin - 1].at <= TOGETHER_SECONDS:
        begin -= 1
    series = failures[begin:]
    first = series[0]
    if first.exit_code != PEER_LOST:
        return first
    near = [f for f in series if f.at - first.at <= TOGETHER_SECONDS]
    return next((f for f in near if f.exit_code != PEER_LOST), first)
