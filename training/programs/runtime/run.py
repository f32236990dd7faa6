"""From command line and environment to the right way of training, and to the right exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime import guards
from runtime.cluster import Cluster, Mode, read_cluster
from runtime.divergence import DivergedError, divergence_marker
from runtime.errors import PEER_LOST, PROGRAM_RAISED, ReplicaError
from runtime.finished import is_finished, program_digest
from runtime.flags import Options, parse_flags, program_flags
from runtime.keras_settings import settle_keras
from runtime.methods import check_methods
from runtime.program_text import read_program
from runtime.progress import Progress, progress_directory
from runtime.settings import Settings, read_settings

if TYPE_CHECKING:
    from runtime.task import Task

_LEADER_FIRST_SECONDS = 10.0


@dataclass(frozen=True)
class Run:
    """One replica's part in one run of a program.

    `digest` is of all that is trained, `served_digest` of what makes an export of a checkpoint;
    `old_divergence` is the marker that an earlier start left.
    """

    task: Task
    options: Options
    settings: Settings
    cluster: Cluster
    progress: Progress
    digest: str
    served_digest: str
    old_divergence: Mapping[str, Any]

    def is_finished(self) -> bool:
        """Whether an earlier or this start of the run has left nothing to do."""
        return is_finished(self.settings, self.options.steps, self.digest)

    def leave_if_over(self) -> None:
        """Ends the process with 0 once the leader has said that the run is finished; raises
        DivergedError once it has said that the training diverged."""
        if self.is_finished():
            self.progress.update(phase="done")
            guards.end_process(0)
        self.leave_if_diverged()

    def leave_if_diverged(self) -> None:
        """Raises DivergedError once the leader has said that the training diverged."""
        marker = divergence_marker(self.settings)
        if marker and marker != self.old_divergence:
            self.let_leader_end_first()
            raise DivergedError(str(marker.get("message")))

    def let_leader_end_first(self) -> None:
        """What supervises the job reports the replica that failed first, and the leader knows."""
        guards.wait_until_gone([self.cluster.leader], _LEADER_FIRST_SECONDS)


def run_task(task: Task, argv: Sequence[str]) -> None:
    """See runtime.task.train."""
    program = Path(sys.argv[0]).name
    try:
        run = _prepare(task, program, argv)
        if run.is_finished():
            steps = run.options.steps
            run.progress.update(phase="done", step=steps, restoredStep=steps)
            print(f"run {run.settings.run} already reached step {run.options.steps}", flush=True)
            return
        guards.end_on_signals()
        if _reads_data(run.cluster):
            task.check_data()
        _train(run)
    except ReplicaError as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        guards.end_process(error.code, f"{program}: {error}")


def _prepare(task: Task, program: str, argv: Sequence[str]) -> Run:
    check_methods(task)
    cluster = read_cluster(os.environ)
    settle_keras(os.environ)
    options = parse_flags(program, argv, task.add_flags)
    progress = Progress(progress_directory(os.environ), cluster.task, options.steps)
    # Before the shared directory is touched: on what hangs there, a supervisor's limit counts.
    progress.update()
    settings = read_settings(os.environ, options.job_dir, options.datasets_dir)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    task.options = options
    task.datasets_dir = settings.datasets_dir
    text = read_program(Path(sys.argv[0]))
    return Run(
        task,
        options,
        settings,
        cluster,
        progress,
        digest=program_digest(text, vars(options)),
        served_digest=program_digest(text, program_flags(options)),
        old_divergence=divergence_marker(settings),
    )


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
            # A leader that left for it may be gone before the last exchange has reached all.
            run.leave_if_diverged()
            lost = guards.describe_loss(run.cluster.peers, str(error))
            raise ReplicaError(lost, PEER_LOST) from None
        traceback.print_exc()
        guards.end_process(PROGRAM_RAISED)
    guards.end_process(0)
