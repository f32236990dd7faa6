"""Training in which every replica takes part in every step: one process, or several alike."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from runtime import checkpoints
from runtime.checkpoint_state import mend_state
from runtime.checkpoints import Checkpoints
from runtime.guards import IdleGuard
from runtime.input_pipeline import TrainingData, share_of_batch
from runtime.learner import Learner
from runtime.run import Run


class SynchronousTrainer:
    """Trains under `strategy`; `guard` watches for peers that keep a step from finishing.

    `share` is (of how many processes, which) this process is for the data.
    """

    def __init__(
        self,
        run: Run,
        strategy: Any,
        data: TrainingData,
        share: tuple[int, int],
        directory: Path,
        guard: IdleGuard | None = None,
    ) -> None:
        self._strategy = strategy
        self._guard = guard
        batch_size, replicas = run.options.batch_size, strategy.num_replicas_in_sync
        mine = share_of_batch(batch_size, *share)
        here = max(1, replicas // share[0])

        def batches(context: Any) -> tf.data.Dataset:
            seed = run.options.seed + share[1]
            return data.batches(max(1, mine // here), seed, share[1])

        with strategy.scope():
            self.learner = Learner(run.task, run.options.seed, data.batch_spec)
        self._checkpoints = Checkpoints(self.learner, directory)
        self._step = 0
        self._batches = iter(strategy.distribute_datasets_from_function(batches))
        learner = self.learner

        def replica_step(inputs: Any, labels: Any) -> dict[str, Any]:
            return learner.update(inputs, labels, batch_size, replicas)

        @tf.function  # type: ignore[untyped-decorator]
        def train_step(batch: Any) -> Any:
            return strategy.run(replica_step, args=batch)

        self._train_step = train_step
        self._sum_everywhere = _summing(strategy, share[0])

    @property
    def step(self) -> int:
        return self._step

    def restore(self, checkpoint: tuple[str, int]) -> None:
        """Model, optimizer and step are the checkpoint's."""
        path, self._step = checkpoint
        self._checkpoints.restore(path)

    def advance(self, count: int) -> dict[str, float]:
        with self._guard.awaiting_steps() if self._guard else nullcontext():
            parts = [self._one_step() for _ in range(count)]
        self._step += count
        local = np.sum([_sums_here(self._strategy, part) for part in parts], axis=0) / count
        names = sorted(parts[0])
        return dict(zip(names, self.sum_everywhere(local), strict=True))

    def _one_step(self) -> dict[str, Any]:
        part: dict[str, Any] = self._train_step(next(self._batches))
        if self._guard:
            self._guard.beat()
        return part

    def save(self) -> None:
        self.learner.step.assign(self._step)
        self._checkpoints.save(self._step)

    def is_finite(self) -> bool:
        return self.learner.is_finite()

    def sum_everywhere(self, values: np.ndarray) -> list[float]:
        """The sum of each value over all processes, each of which must call this."""
        return [float(value) for value in self._sum_everywhere(tf.constant(values, tf.float64))]

    def meet_everywhere(self) -> None:
        """Returns once every process has called this."""
        self.sum_everywhere(np.zeros(1))


def _summing(strategy: Any, processes: int) -> Callable[[Any], Any]:
    if processes == 1:
        return lambda values: values
    here = strategy.num_replicas_in_sync // processes

    def in_replica(values: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce(
            tf.distribute.ReduceOp.SUM, values / here
        )

    @tf.function  # type: ignore[untyped-decorator]
    def sum_everywhere(values: Any) -> Any:
        return strategy.experimental_local_results(strategy.run(in_replica, args=(values,)))[0]

    return sum_everywhere  # type: ignore[no-any-return]


def _sums_here(strategy: Any, part: dict[str, Any]) -> np.ndarray:
    """What this process adds to each figure of one step, by name in order."""
    return np.array(
        [sum(map(float, strategy.experimental_local_results(part[name]))) for name in sorted(part)]
    )


def newest_checkpoint(run: Run) -> tuple[str, int] | None:
    """The run's newest checkpoint, said in the progress file as the one restored; for the leader.

    Raises ReplicaError where there were checkpoints and none is left whole.
    """
    mend_state(run.settings)
    newest = checkpoints.latest(run.settings)
    if newest:
        run.progress.update(step=newest[1], restoredStep=newest[1])
        print(f"continues from {newest[0]}", flush=True)
    return newest
