"""The loop every way of training shares: train a stretch, report, save, until the last step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from runtime import checkpoints
from runtime.curves import Curves
from runtime.divergence import diverged
from runtime.run import Run


class Trainer(Protocol):
    """Advances the model; each way of training has one."""

    @property
    def step(self) -> int: ...

    def advance(self, count: int) -> dict[str, float]:
        """Trains `count` more steps; returns their mean loss and metrics."""

    def is_finite(self) -> bool:
        """Whether every weight is a finite number."""

    def save(self) -> None:
        """A checkpoint of the current step exists afterwards."""


def train_to_end(
    run: Run, trainer: Trainer, curves: Curves | None, evaluate: Callable[[], None] | None
) -> None:
    """The run's last step is trained and saved. Only the leader has curves and evaluates.

    Raises DivergedError, in every process that takes part in each step, before anything is saved
    that is no good.
    """
    # The first step may take long; whoever looks for a start that hangs must know that it is over.
    run.progress.update(phase="training")
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
        if not math.isfinite(means["loss"]):
            steps = f"of steps {start + 1} to {trainer.step} is {means['loss']}"
            raise diverged(run, f"the loss {steps}", checkpoints.latest(run.settings))
        evaluates = bool(options.evaluate_every) and _crossed(
            start, trainer.step, options.evaluate_every
        )
        ended = trainer.step >= options.steps
        if ended or evaluates or _crossed(start, trainer.step, options.checkpoint_every):
            if not trainer.is_finite():
                weights = f"weights are infinite or no numbers after step {trainer.step}"
                raise diverged(run, weights, checkpoints.latest(run.settings))
            trainer.save()
        if evaluates and evaluate and not ended:
            evaluate()


def _next_multiple(step: int, every: int) -> int:
    return (step // every + 1) * every


def _crossed(start: int, stop: int, every: int) -> bool:
    return start // every != stop // every
