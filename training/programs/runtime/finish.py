"""What follows training, done by the leader alone and from the last checkpoint.

It needs no other replica, and doing it again changes nothing, so a leader that was killed on the
way does it on its next start.
"""

from __future__ import annotations

import math
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from runtime import checkpoints, export, versions
from runtime.curves import Curves
from runtime.divergence import forget_divergence, no_good_result
from runtime.evaluation import Evaluation
from runtime.finished import evaluated_step, mark_finished
from runtime.progress import write_json
from runtime.run import Run

_EVALUATOR_SECONDS = 20.0


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
    run.progress.update(phase="evaluating", step=step)
    means, examples = evaluation.of(path)
    if not math.isfinite(means["loss"]):
        before = checkpoints.before(run.settings, step)
        raise no_good_result(run, path, means["loss"], before)
    result = {"step": step, "examples": examples, **means}
    write_json(result_path, result)
    print("  ".join(f"{name} {value:.6g}" for name, value in result.items()), flush=True)
    if run.settings.export:
        _export(run, evaluation, path, step)
    if not _evaluator_wrote(run, step):
        curves.evaluation(step, means)
    forget_divergence(run.settings)
    mark_finished(run.settings, step, run.digest)
    run.progress.update(
        phase="done", step=step, loss=result.get("loss"), accuracy=result.get("accuracy")
    )
    return result


def _evaluator_wrote(run: Run, step: int) -> bool:
    """Whether an evaluator wrote the last point of the curve; waited for if it was seen at work.

    What supervises the job may end the evaluator as soon as the leader is done, and before its
    first point, so that without the leader's there would be no curve.
    """
    if not run.cluster.has_evaluator:
        return False
    ends = time.monotonic() + _EVALUATOR_SECONDS
    while (evaluated := evaluated_step(run.settings)) is not None and evaluated < step:
        if time.monotonic() > ends:
            return False
        time.sleep(0.2)
    return evaluated is not None


def _export(run: Run, evaluation: Evaluation, path: str, step: int) -> None:
    settings = run.settings
    # The index holds a checksum of each variable: a run trained anew to the same step is another.
    digest = sha256(Path(f"{path}.index").read_bytes()).hexdigest()
    origin = versions.Origin(settings.job, settings.run, step, digest, run.served_digest)
    version = versions.exported_version(settings.export_dir, origin)
    if version is None:
        run.progress.update(phase="exporting")
        checkpoints.restore_model(path, evaluation.model)
        version = versions.publish(
            settings.export_dir,
            origin,
            lambda directory: export.save_for_serving(run.task, evaluation.model, directory),
        )
    print(f"exported as {settings.export_dir / str(version)}", flush=True)
