"""Training with parameter servers: the chief hands steps to workers, variables live on ps.

The chief computes no step. A step may be done twice when a worker is lost, so a run may end a few
steps past the last.
"""

from __future__ import annotations

import os
import time
from typing import Any

import tensorflow as tf

from runtime import guards
from runtime.checkpoints import Checkpoints
from runtime.cluster import Cluster
from runtime.curves import Curves
from runtime.devices import leave_gpus, prepare_gpus
from runtime.errors import NOT_ASSEMBLED, PEER_LOST, ReplicaError
from runtime.evaluation import in_loop_evaluation
from runtime.export import check_export
from runtime.finish import finish
from runtime.input_pipeline import TrainingData
from runtime.learner import Learner
from runtime.loop import train_to_end
from runtime.renewal import is_renewed, renew
from runtime.run import Run
from runtime.synchronous import newest_checkpoint

CHIEF_DEVICE = "/job:chief/replica:0/task:0/device:CPU:0"
_STEP_POLL_SECONDS = 2.0
_LOOK_SECONDS = 0.5
_LOOKS_UNTIL_LOST = 3
"""One look may fail for want of a packet. A chief that starts again takes longer than three, since
it imports TensorFlow first."""


def take_part(run: Run) -> None:
    """As chief: the run is trained, evaluated, exported. As worker or ps: served until then."""
    if run.cluster.is_leader:
        _coordinate(run)
    else:
        _serve(run)


def _serve(run: Run) -> None:
    cluster, settings = run.cluster, run.settings
    if cluster.task.role == "ps":
        leave_gpus()
    else:
        prepare_gpus()
    deadline = guards.StartDeadline(settings.start_timeout_seconds)
    guards.wait_for_own_port(cluster.task, deadline)
    server = tf.distribute.Server(
        tf.train.ClusterSpec(cluster.addresses()),
        job_name=cluster.task.role,
        task_index=cluster.task.index,
        protocol="grpc",
        start=True,
    )
    _await_chief(run, deadline)
    run.progress.update(phase="training")
    _stay_with_chief(run)
    del server


def _await_chief(run: Run, deadline: guards.StartDeadline) -> None:
    """Returns once the chief answers. It may be starting again, but not for longer than a start may
    take."""
    chief = run.cluster.leader
    try:
        guards.wait_for_peers([chief], deadline, run.leave_if_over)
    except ReplicaError as error:
        if error.code != NOT_ASSEMBLED or not is_renewed(os.environ):
            raise
        timeout = run.settings.start_timeout_seconds
        lost = f"lost {chief}: it did not answer for {timeout:g} s"
        raise ReplicaError(lost, PEER_LOST) from None


def _stay_with_chief(run: Run) -> None:
    """Never returns: TensorFlow's servers know no end, so the run's marker is watched for.

    A chief that is away is waited for by a new server, which has served no other.
    """
    silent_looks = 0
    while silent_looks < _LOOKS_UNTIL_LOST:
        run.leave_if_over()
        time.sleep(_LOOK_SECONDS)
        silent_looks = 0 if guards.answers(run.cluster.leader) else silent_looks + 1
    print(f"{run.cluster.leader} is gone: waiting for it anew", flush=True)
    renew()


def _coordinate(run: Run) -> None:
    leave_gpus()
    newest = newest_checkpoint(run)
    if newest is None or newest[1] < run.options.steps:
        data = TrainingData(run.task, shares=1)
        if run.settings.export:
            check_export(run.task, run.options.seed, data.batch_spec)
        deadline = guards.StartDeadline(run.settings.start_timeout_seconds)
        guards.wait_for_own_port(run.cluster.task, deadline)
        guards.wait_for_peers(run.cluster.peers, deadline, lambda: None)
        guard = guards.IdleGuard(run.options.idle_timeout, run.cluster.peers)
        trainer = ParameterServerTrainer(run, data, guard)
        if newest:
            trainer.restore(newest[0])
        curves = Curves(run)
        train_to_end(run, trainer, curves, in_loop_evaluation(run, curves))
        finish(run, curves)
        # To return would destroy the coordinator, which waits for servers that left.
        guards.end_process(0)
    finish(run, Curves(run))


class ParameterServerTrainer:
    """Schedules steps on the workers of the cluster."""

    def __init__(self, run: Run, data: TrainingData, guard: guards.IdleGuard) -> None:
        self._guard = guard
        strategy = _connect(run.cluster)
        self._coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        batch_size = run.options.batch_size
        with strategy.scope():
            self._learner = learner = Learner(run.task, run.options.seed, data.batch_spec)
        # Each worker draws by itself: with a global seed all would draw the same.
        tf.random.set_seed(None)
        self._checkpoints = Checkpoints(learner, run.settings.checkpoints_dir, CHIEF_DEVICE)
        batches = self._coordinator.create_per_worker_dataset(data.sendable_batches(batch_size))
        self._batches = iter(batches)
        self._step = 0

        def replica_step(inputs: Any, labels: Any) -> dict[str, Any]:
            learner.step.assign_add(1)
            return learner.update(inputs, labels, batch_size, replicas=1)

        @tf.function  # type: ignore[untyped-decorator]
        def train_step(iterator: Any) -> Any:
            # Keras optimizers find their strategy only inside strategy.run.
            return strategy.run(replica_step, args=next(iterator))

        self._train_step = train_step

    @property
    def step(self) -> int:
        return self._step

    def restore(self, path: str) -> None:
        """Model, optimizer and step are the checkpoint's."""
        self._checkpoints.restore(path)
        self._step = int(self._learner.step.numpy())

    def advance(self, count: int) -> dict[str, float]:
        with self._guard.awaiting_steps():
            scheduled = [
                self._coordinator.schedule(self._train_step, args=(self._batches,))
                for _ in range(count)
            ]
            self._wait()
        parts = self._coordinator.fetch(scheduled)
        self._step = int(self._learner.step.numpy())
        return {name: sum(float(part[name]) for part in parts) / len(parts) for name in parts[0]}

    def is_finite(self) -> bool:
        return self._learner.is_finite()

    def save(self) -> None:
        self._checkpoints.save(self._step)

    def _wait(self) -> None:
        """As coordinator.join(), which would wait for dead workers without limit."""
        looked, step = time.monotonic(), -1
        while not self._coordinator.done():
            time.sleep(0.005)
            if time.monotonic() - looked > _STEP_POLL_SECONDS:
                looked = time.monotonic()
                if (now := int(self._learner.step.numpy())) != step:
                    step = now
                    self._guard.beat()
        self._coordinator.join()


def _connect(cluster: Cluster) -> Any:
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster.addresses()),
        task_type="chief",
        task_id=0,
        rpc_layer="grpc",
    )
    return tf.distribute.ParameterServerStrategy(resolver)
