"""The marker of a finished run, which every replica of the job can see."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from runtime.progress import read_json, write_json
from runtime.settings import Settings

_OF_THE_TARGET = ("steps", "job_dir", "datasets_dir")


def program_digest(program: Path, options: Mapping[str, Any]) -> str:
    """What is trained: the program, the modules it has imported from its own folder, and its flags
    but for how long and where. Neither the runtime nor installed packages are part of it."""
    folder = program.resolve().parent
    others = (Path(__file__).resolve().parent, Path(sys.prefix).resolve())
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = {program.resolve(), *(Path(name).resolve() for name in loaded if name)}
    texts = {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_relative_to(folder) and not any(path.is_relative_to(other) for other in others)
    }
    flags = {name: str(value) for name, value in options.items() if name not in _OF_THE_TARGET}
    return sha256(json.dumps([texts, flags], sort_keys=True).encode()).hexdigest()


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
