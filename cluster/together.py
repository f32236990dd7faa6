"""Asks several things at once, so that a look takes as long as its slowest answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def together(questions: Sequence[Callable[[], _T]]) -> list[_T]:
    """The answers, in the order of the questions; raises what the first of them that fails does."""
    answers: dict[int, _T] = {}
    errors: dict[int, Exception] = {}

    def ask(number: int) -> None:
        try:
            answers[number] = questions[number]()
        except Exception as error:
            errors[number] = error

    # Daemons, unlike those of a thread pool: who presses ctrl-C does not wait for the last answer.
    threads = [
        threading.Thread(target=ask, args=(number,), daemon=True)
        for number in range(len(questions))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in sorted(errors):
        raise errors[number]
    return [answers[number] for number in range(len(questions))]
