"""The loop every way of training shares: train a stretch, report, save, until the last step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from runtime.curves import Curves
from runtime.run import Run


class Trainer(Protocol):
    """Advances the model; each way of training has one."""

    @property
    def step(self) -> int: ...

    def advance(self, count: int) -> dict[str, float]:
        """Trains `count` more steps; returns their mean loss and metrics."""

    def save(self) -> None:
        """A checkpoint of the current step exists afterwards."""


def train_to_end(
    run: Run, trainer: Trainer, curves: Curves | None, evaluate: Callable[[], None] | None
) -> None:
    """The run's last step is trained and saved. Only the leader has curves and evaluates."""
    options = run.options
    intervals = [options.log_every, options.checkpoint_every]
    if options.evaluate_every:
        intervals.append(options.evaluate_every)
    while trainer.step < options.steps:
        start, started = trainer.step, time.monotonic()
        stop = min([options.steps, *(_next_multiple(start, every) for every in intervals)])
        means = trainer.advance(stop - start)
        if curves:
            rate = (stop - start) * options.batch_size / (time.monotonic() - started)
            curves.training(trainer.step, means, rate)
        evaluates = bool(options.evaluate_every) and _crossed(
            start, trainer.step, options.evaluate_every
        )
        ended = trainer.step >= options.steps
        if ended or evaluates or _crossed(start, trainer.step, options.checkpoint_every):
            trainer.save()
        if evaluates and evaluate and not ended:
            evaluate()


def _next_multiple(step: int, every: int) -> int:
    return (step // every + 1) * every


def _crossed(start: int, stop: int, every: int) -> bool:
    return start // every != stop // every
