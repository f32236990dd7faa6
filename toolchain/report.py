"""What the installer tells the user: long steps while they run, and one line when it must stop."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stop(Exception):
    """Ends the command; the text is the one line that the user reads."""


def say(text: str) -> None:
    # Flushed: the programs started afterwards write to the same terminal.
    print(text, flush=True)


@contextmanager
def step(doing: str, usually: str) -> Iterator[None]:
    """Announces a long step with the time it usually takes, and tells afterwards how long it
    took."""
    say(f"{doing} ({usually})…")
    start = time.monotonic()
    yield
    say(f"  done in {duration(time.monotonic() - start)}")


def duration(seconds: float) -> str:
    """`8.3 s`, or `4 min 7 s` from a minute on."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def exit_code_of(command: Callable[[], int], interrupted: str) -> int:
    """What `command` returns. 1 when it stopped, 130 after ctrl-C; each is told in one line, the
    latter by `interrupted`."""
    try:
        return command()
    except Stop as stop:
        print(f"ack-training: {stop}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"ack-training: stopped; {interrupted}", file=sys.stderr)
        return 130
