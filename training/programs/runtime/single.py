"""Training in one process."""

from __future__ import annotations

import tensorflow as tf

from runtime.curves import Curves
from runtime.devices import prepare_gpus
from runtime.evaluation import in_loop_evaluation
from runtime.export import check_export
from runtime.finish import finish
from runtime.input_pipeline import TrainingData
from runtime.loop import train_to_end
from runtime.run import Run
from runtime.synchronous import SynchronousTrainer, newest_checkpoint


def train(run: Run) -> None:
    """The run is trained to its last step, evaluated and exported."""
    newest = newest_checkpoint(run)
    if newest is None or newest[1] < run.options.steps:
        data = TrainingData(run.task, shares=1)
        if run.settings.export:
            check_export(run.task, run.options.seed, data.batch_spec)
        strategy = (
            tf.distribute.MirroredStrategy() if prepare_gpus() > 1 else tf.distribute.get_strategy()
        )
        directory = run.settings.checkpoints_dir
        trainer = SynchronousTrainer(run, strategy, data, (1, 0), directory)
        if newest:
            trainer.restore(newest)
        curves = Curves(run)
        train_to_end(run, trainer, curves, in_loop_evaluation(run, curves))
    else:
        curves = Curves(run)
    finish(run, curves)
