"""TensorBoard curves and lines of progress of one replica."""

from __future__ import annotations

from collections.abc import Mapping

import tensorflow as tf

from runtime.run import Run

# What tf.summary.scalar writes, which needs the tensorboard package in every replica's image.
_SCALAR = tf.compat.v1.SummaryMetadata(
    plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars")
)
_SCALAR.data_class = 1  # DATA_CLASS_SCALAR of tensorflow/core/framework/summary.proto


class Curves:
    """Writes the scalars of this replica; one directory, one writer."""

    def __init__(self, run: Run) -> None:
        self._run = run
        directory = run.settings.logs_dir(run.cluster.writer)
        self._writer = tf.summary.create_file_writer(str(directory))

    def training(self, step: int, means: Mapping[str, float], examples_per_second: float) -> None:
        """Curves train/<name>, the progress file and one line on stdout say so."""
        self._write("train", step, {**means, "examples_per_second": examples_per_second})
        self._run.progress.update(
            phase="training",
            step=step,
            loss=means["loss"],
            accuracy=means.get("accuracy"),
            examplesPerSecond=examples_per_second,
        )
        figures = "  ".join(f"{name} {value:.4f}" for name, value in means.items())
        total = self._run.options.steps
        print(f"step {step}/{total}  {figures}  {examples_per_second:.0f} examples/s", flush=True)

    def evaluation(self, step: int, means: Mapping[str, float]) -> None:
        """Curves evaluation/<name> and one line on stdout say so."""
        self._write("evaluation", step, means)
        figures = "  ".join(f"{name} {value:.4f}" for name, value in means.items())
        print(f"evaluation at step {step}  {figures}", flush=True)

    def _write(self, group: str, step: int, values: Mapping[str, float]) -> None:
        with self._writer.as_default():
            for name, value in values.items():
                scalar = tf.constant(value, tf.float32)
                tf.summary.write(f"{group}/{name}", scalar, step=step, metadata=_SCALAR)
        self._writer.flush()
