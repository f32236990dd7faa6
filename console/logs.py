"""Prints the log of one replica."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.source import Log

Tell = Callable[[str], None]
"""Takes a note for the reader of a log."""


def print_once(log: Log) -> int:
    """Prints what the log holds now."""
    print(log.now(_tell), end="")
    return 0


def follow(log: Log) -> int:
    """Prints the log and what is added to it, until the job is over or the user has seen enough."""
    for text in log.follow(_tell):
        print(text, end="", flush=True)
    return 0


def _tell(note: str) -> None:
    print(f"({note})", file=sys.stderr, flush=True)
