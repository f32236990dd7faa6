"""Training by several workers that share every step: MultiWorkerMirroredStrategy."""

from __future__ import annotations

import os
import shutil
import time
from typing import Any

import numpy as np
import tensorflow as tf

from runtime import checkpoints, guards
from runtime.cluster import Cluster
from runtime.curves import Curves
from runtime.devices import prepare_gpus
from runtime.divergence import DivergedError
from runtime.ending import leave_as_leader, leave_with_leader
from runtime.errors import ReplicaError
from runtime.evaluation import in_loop_evaluation
from runtime.export import check_export
from runtime.finish import finish
from runtime.input_pipeline import TrainingData
from runtime.loop import train_to_end
from runtime.rendezvous import meet
from runtime.run import Run
from runtime.synchronous import SynchronousTrainer, newest_checkpoint

_STRATEGY_SECONDS = 120.0
_VISIBLE_SECONDS = 60.0


def train(run: Run) -> None:
    """This worker's part of the run is done; the leader has evaluated and exported it as well."""
    cluster, settings = run.cluster, run.settings
    workers = cluster.of_role("chief") + cluster.of_role("worker")
    if run.options.batch_size < len(workers):
        raise ReplicaError(
            f"--batch-size is {run.options.batch_size}, fewer than one example for each of"
            f" {len(workers)} workers"
        )
    newest = newest_checkpoint(run) if cluster.is_leader else None
    if newest and newest[1] >= run.options.steps:
        finish(run, Curves(run))
        return
    deadline = guards.StartDeadline(settings.start_timeout_seconds)
    meet(cluster, f"{settings.job}/run-{settings.run}", deadline, run.leave_if_over)
    strategy = _connect(cluster)
    guards.end_on_signals()
    # Not before: a dataset made ahead of the strategy would keep TensorFlow from connecting.
    data = TrainingData(run.task, shares=len(workers))
    if cluster.is_leader and settings.export:
        check_export(run.task, run.options.seed, data.batch_spec)
    guard = guards.IdleGuard(run.options.idle_timeout, cluster.peers)
    directory = (
        settings.checkpoints_dir
        if cluster.is_leader
        else checkpoints.throw_away_directory(settings, cluster.task)
    )
    share = (len(workers), workers.index(cluster.task))
    trainer = SynchronousTrainer(run, strategy, data, share, directory, guard)
    newest = _agreed(run, trainer, newest)
    if newest:
        trainer.restore(newest)
    if cluster.is_leader:
        curves = Curves(run)
        train_to_end(run, trainer, curves, in_loop_evaluation(run, curves))
        finish(run, curves)
        leave_as_leader(run, trainer.meet_everywhere)
    try:
        train_to_end(run, trainer, None, None)
    except DivergedError:
        run.let_leader_end_first()
        raise
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    leave_with_leader(run, trainer.meet_everywhere)


def _connect(cluster: Cluster) -> Any:
    """The strategy, once all workers are connected. The peers are known to be there."""
    os.environ["TF_CONFIG"] = cluster.tf_config()
    implementation = (
        tf.distribute.experimental.CommunicationImplementation.NCCL
        if prepare_gpus()
        else tf.distribute.experimental.CommunicationImplementation.RING
    )
    peers = ", ".join(str(peer) for peer in cluster.peers)
    message = f"lost a peer while connecting to {peers}"
    with guards.limit_native_wait(_STRATEGY_SECONDS, message):
        return tf.distribute.MultiWorkerMirroredStrategy(
            communication_options=tf.distribute.experimental.CommunicationOptions(
                implementation=implementation
            )
        )


def _agreed(
    run: Run, trainer: SynchronousTrainer, newest: tuple[str, int] | None
) -> tuple[str, int] | None:
    """The checkpoint the leader found, for every worker; None if it found none.

    All train from one step: a worker that looked for itself could see another checkpoint, for a
    shared file system may show a new file late.
    """
    step = int(trainer.sum_everywhere(np.array([newest[1] if newest else 0.0]))[0])
    if step == 0 or newest:
        return newest
    path = run.settings.checkpoints_dir / f"ckpt-{step}"
    ends = time.monotonic() + _VISIBLE_SECONDS
    while not path.with_name(f"{path.name}.index").exists():
        if time.monotonic() > ends:
            raise ReplicaError(f"the leader restores {path}, which this worker cannot see")
        time.sleep(0.5)
    run.progress.update(step=step, restoredStep=step)
    return str(path), step
