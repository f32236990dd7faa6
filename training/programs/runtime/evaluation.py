"""Evaluates checkpoints on examples the model never trains on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from runtime import checkpoints
from runtime.curves import Curves
from runtime.errors import DataError
from runtime.input_pipeline import evaluation_batches
from runtime.learner import build_model, per_example
from runtime.run import Run


class Evaluation:
    """A plain copy of the model that takes its weights from checkpoints."""

    def __init__(self, run: Run) -> None:
        task = run.task
        self._batches = evaluation_batches(task, task.dataset("test"))
        self.model = model = build_model(task, run.options.seed, self._batches.element_spec)

        @tf.function(reduce_retracing=True)  # type: ignore[untyped-decorator]
        def sums(inputs: Any, labels: Any) -> tuple[dict[str, Any], Any]:
            outputs = model(inputs, training=False)
            loss = per_example(task.loss(labels, outputs))
            values = {name: per_example(v) for name, v in task.metrics(labels, outputs).items()}
            totals = {name: tf.reduce_sum(value) for name, value in values.items()}
            return {"loss": tf.reduce_sum(loss), **totals}, tf.shape(loss)[0]

        self._sums = sums

    def of(self, path: str) -> tuple[dict[str, float], int]:
        """Mean loss and metrics of the checkpoint on held-out examples, and their number."""
        checkpoints.restore_model(path, self.model)
        totals: dict[str, float] = defaultdict(float)
        examples = 0
        for inputs, labels in self._batches:
            sums, count = self._sums(inputs, labels)
            for name, value in sums.items():
                totals[name] += float(value)
            examples += int(count)
        if not examples:
            raise DataError("dataset('test') has no examples")
        return {name: total / examples for name, total in totals.items()}, examples


def in_loop_evaluation(run: Run, curves: Curves) -> Callable[[], None] | None:
    """What the leader does at each --evaluate-every: nothing if an evaluator does it."""
    if run.cluster.has_evaluator or not run.options.evaluate_every:
        return None
    evaluation = Evaluation(run)

    def evaluate_newest() -> None:
        newest = checkpoints.latest(run.settings)
        if newest:
            means, _ = evaluation.of(newest[0])
            curves.evaluation(newest[1], means)

    return evaluate_newest
