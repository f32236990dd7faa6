"""The evaluator: follows the checkpoints of a run and writes the curves evaluation/<name>."""

from __future__ import annotations

import time

import tensorflow as tf

from runtime import checkpoints
from runtime.curves import Curves
from runtime.devices import prepare_gpus
from runtime.evaluation import Evaluation
from runtime.finished import mark_evaluated
from runtime.run import Run

_POLL_SECONDS = 0.5


def follow(run: Run) -> None:
    """The checkpoints of the run are evaluated up to the last step's, each at most once.

    With --evaluate-every, a checkpoint that many steps after the one before it at the earliest.
    """
    prepare_gpus()
    evaluation, curves = Evaluation(run), Curves(run)
    steps, every = run.options.steps, run.options.evaluate_every
    evaluated = -max(every, 1)
    run.progress.update(phase="evaluating")
    while evaluated < steps:
        newest = checkpoints.latest(run.settings)
        if newest is None or (newest[1] < steps and newest[1] < evaluated + max(every, 1)):
            if newest is not None and newest[1] == evaluated:
                run.leave_if_over()
            run.leave_if_diverged()
            time.sleep(_POLL_SECONDS)
            continue
        path, step = newest
        try:
            means, _ = evaluation.of(path)
        except tf.errors.NotFoundError:
            # The leader keeps the newest few: this one went while it was read.
            time.sleep(_POLL_SECONDS)
            continue
        curves.evaluation(step, means)
        mark_evaluated(run.settings, step)
        evaluated = step
        run.progress.update(step=step, loss=means["loss"], accuracy=means.get("accuracy"))
    run.progress.update(phase="done")
