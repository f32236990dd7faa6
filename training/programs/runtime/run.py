"""From command line and environment to the right way of training, and to the right exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runtime import guards
from runtime.cluster import Cluster, Mode, read_cluster
from runtime.errors import PEER_LOST, ReplicaError
from runtime.finished import is_finished, program_digest
from runtime.flags import Options, parse_flags
from runtime.progress import Progress
from runtime.settings import Settings, read_settings

if TYPE_CHECKING:
    from runtime.task import Task


@dataclass(frozen=True)
class Run:
    """One replica's part in one run of a program."""

    task: Task
    options: Options
    settings: Settings
    cluster: Cluster
    progress: Progress
    digest: str

    def is_finished(self) -> bool:
        """Whether an earlier or this start of the run has left nothing to do."""
        return is_finished(self.settings, self.options.steps, self.digest)

    def leave_if_finished(self) -> None:
        """Ends the process with 0 once the leader has said that the run is finished."""
        if self.is_finished():
            self.progress.update(phase="done")
            guards.end_process(0)


def run_task(task: Task, argv: Sequence[str]) -> None:
    """See runtime.task.train."""
    program = Path(sys.argv[0]).name
    try:
        run = _prepare(task, program, argv)
        if run.is_finished():
            run.progress.update(phase="done", step=run.options.steps)
            print(f"run {run.settings.run} already reached step {run.options.steps}", flush=True)
            return
        guards.end_on_signals()
        run.progress.update()
        if _reads_data(run.cluster):
            task.check_data()
        _train(run)
    except ReplicaError as error:
        guards.end_process(error.code, f"{program}: {error}")


def _prepare(task: Task, program: str, argv: Sequence[str]) -> Run:
    cluster = read_cluster(os.environ)
    options = parse_flags(program, argv, task.add_flags)
    settings = read_settings(os.environ, options.job_dir, options.datasets_dir)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    task.options = options
    task.datasets_dir = settings.datasets_dir
    progress = Progress(settings.progress_dir, cluster.task, options.steps)
    digest = program_digest(Path(sys.argv[0]), vars(options))
    return Run(task, options, settings, cluster, progress, digest)


def _reads_data(cluster: Cluster) -> bool:
    """With parameter servers, workers get the chief's pipeline and servers none."""
    return cluster.mode is not Mode.PARAMETER_SERVER or cluster.is_leader


def _train(run: Run) -> None:
    """Imports of TensorFlow start here: each way of training has its own module."""
    from runtime.quiet_import import import_tensorflow

    import_tensorflow()
    mode = run.cluster.mode
    if mode is Mode.SINGLE:
        from runtime import single

        single.train(run)
        return
    try:
        if mode is Mode.PARAMETER_SERVER:
            from runtime import parameter_server

            parameter_server.take_part(run)
        elif mode is Mode.MULTI_WORKER_MIRRORED:
            from runtime import multi_worker

            multi_worker.train(run)
        else:
            from runtime import evaluator

            evaluator.follow(run)
    except ReplicaError:
        raise
    except Exception as error:
        from runtime.peer_loss import is_peer_loss

        if is_peer_loss(error):
            lost = guards.describe_loss(run.cluster.peers, str(error))
            raise ReplicaError(lost, PEER_LOST) from None
        traceback.print_exc()
        guards.end_process(1)
    guards.end_process(0)
