"""The marker of a finished run, which every replica of the job can see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from runtime.program_text import ProgramText
from runtime.progress import read_json, write_json
from runtime.settings import Settings

_OF_THE_TARGET = ("steps", "job_dir", "datasets_dir")


def program_digest(text: ProgramText, flags: Mapping[str, Any]) -> str:
    """What is trained, or served: the program's files and `flags`, but for how long and where."""
    kept = {name: str(value) for name, value in flags.items() if name not in _OF_THE_TARGET}
    content = json.dumps([dict(text.digests), kept], sort_keys=True)
    return sha256(content.encode()).hexdigest()


def is_finished(settings: Settings, steps: int, digest: str) -> bool:
    """Whether the run of this program trained to `steps` and did all that follows training.

    The marker counts for the steps it names only, so one left by an earlier start with fewer
    steps ends nothing; neither does one whose checkpoint is gone, nor one of another program,
    whose model the checkpoint may not fit.
    """
    marker = read_json(_marker(settings))
    step = marker.get("step")
    if not isinstance(step, int) or step < steps or marker.get("program") != digest:
        return False
    if settings.export and marker.get("exported") is not True:
        return False
    return (settings.checkpoints_dir / f"ckpt-{step}.index").exists()


def mark_finished(settings: Settings, step: int, digest: str) -> None:
    """is_finished() is true afterwards for every replica of the run, up to `step` steps."""
    content = {"step": step, "exported": settings.export, "program": digest}
    write_json(_marker(settings), content)


def mark_evaluated(settings: Settings, step: int) -> None:
    """evaluated_step() is `step` afterwards."""
    write_json(settings.checkpoints_dir / "evaluated.json", {"step": step})


def evaluated_step(settings: Settings) -> int | None:
    """The newest step the evaluator wrote a point of its curve for; None before the first."""
    step = read_json(settings.checkpoints_dir / "evaluated.json").get("step")
    return step if isinstance(step, int) else None


def _marker(settings: Settings) -> Path:
    return settings.checkpoints_dir / "done.json"
