"""What follows training, done by the leader alone and from the last checkpoint.

It needs no other replica, and each part is skipped when it was done before, so a leader that was
killed on the way goes on where it stopped.
"""

from __future__ import annotations

from typing import Any

from runtime import checkpoints, export, versions
from runtime.curves import Curves
from runtime.evaluation import Evaluation
from runtime.finished import mark_finished
from runtime.progress import read_json, write_json
from runtime.run import Run


def finish(run: Run, curves: Curves) -> dict[str, Any]:
    """The run's last checkpoint is evaluated, exported if wanted, and the run marked finished.

    Returns the content of <checkpoints>/result.json: step, examples, loss and each metric.
    """
    newest = checkpoints.latest(run.settings)
    if newest is None:
        raise RuntimeError(f"no checkpoint in {run.settings.checkpoints_dir} after training")
    path, step = newest
    evaluation = Evaluation(run)
    result_path = run.settings.checkpoints_dir / "result.json"
    result = read_json(result_path)
    if result.get("step") != step:
        run.progress.update(phase="evaluating", step=step)
        means, examples = evaluation.of(path)
        if not run.cluster.has_evaluator:
            curves.evaluation(step, means)
        result = {"step": step, "examples": examples, **means}
        write_json(result_path, result)
    print("  ".join(f"{name} {value:.6g}" for name, value in result.items()), flush=True)
    if run.settings.export:
        _export(run, evaluation, path, step)
    mark_finished(run.settings, step)
    run.progress.update(
        phase="done", step=step, loss=result.get("loss"), accuracy=result.get("accuracy")
    )
    return result


def _export(run: Run, evaluation: Evaluation, path: str, step: int) -> None:
    settings = run.settings
    version = versions.exported_version(settings.export_dir, settings.job, settings.run, step)
    if version is None:
        run.progress.update(phase="exporting")
        checkpoints.restore_model(path, evaluation.model)
        version = versions.publish(
            settings.export_dir,
            settings.job,
            settings.run,
            step,
            lambda directory: export.save_for_serving(run.task, evaluation.model, directory),
        )
    print(f"exported as {settings.export_dir / str(version)}", flush=True)
