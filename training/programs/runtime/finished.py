"""The marker of a finished run, which every replica of the job can see."""

from __future__ import annotations

from pathlib import Path

from runtime.progress import read_json, write_json
from runtime.settings import Settings


def is_finished(settings: Settings, steps: int) -> bool:
    """Whether the run trained to `steps` and did all that follows training.

    The marker counts for the steps it names only, so one left by an earlier start with fewer
    steps ends nothing; neither does one whose checkpoint is gone.
    """
    marker = read_json(_marker(settings))
    step = marker.get("step")
    if not isinstance(step, int) or step < steps:
        return False
    if settings.export and marker.get("exported") is not True:
        return False
    return (settings.checkpoints_dir / f"ckpt-{step}.index").exists()


def mark_finished(settings: Settings, step: int) -> None:
    """is_finished() is true afterwards for every replica of the run, up to `step` steps."""
    write_json(_marker(settings), {"step": step, "exported": settings.export})


def mark_evaluated(settings: Settings, step: int) -> None:
    """evaluated_step() is `step` afterwards."""
    write_json(settings.checkpoints_dir / "evaluated.json", {"step": step})


def evaluated_step(settings: Settings) -> int | None:
    """The newest step the evaluator wrote a point of its curve for; None before the first."""
    step = read_json(settings.checkpoints_dir / "evaluated.json").get("step")
    return step if isinstance(step, int) else None


def _marker(settings: Settings) -> Path:
    return settings.checkpoints_dir / "done.json"
