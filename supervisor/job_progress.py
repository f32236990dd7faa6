"""What a replica tells of itself in its progress file (training/programs/runtime writes these)."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class JobProgress:
    """The newest word of one replica. Times are Unix seconds."""

    phase: str
    step: int
    steps: int
    restored_step: int
    loss: float | None
    accuracy: float | None
    examples_per_second: float | None
    training_since: float | None
    updated_at: float

    def sentence(self) -> str:
        parts = [f"step {self.step} of {self.steps}"]
        if self.phase == "starting":
            parts[0] = "connecting"
        if self.phase == "done":
            # What is told last is the evaluation on what was held out, not the training.
            parts.append("on held-out data")
        if self.loss is not None:
            parts.append(f"loss {self.loss:.4f}")
        if self.accuracy is not None:
            parts.append(f"accuracy {self.accuracy:.3f}")
        if self.examples_per_second is not None and self.phase != "done":
            parts.append(f"{self.examples_per_second:,.0f} examples/s")
        return ", ".join(parts)

    def quarter(self) -> int:
        """0 to 4: how many quarters of the steps are done."""
        return 4 * self.step // self.steps if self.steps else 0

    def seconds_left(self) -> int | None:
        """By the pace since training began; None before there is a pace."""
        done = self.step - self.restored_step
        if self.training_since is None or done <= 0 or self.phase == "done":
            return None
        pace = (self.updated_at - self.training_since) / done
        waited = time.time() - self.updated_at
        return max(0, round((self.steps - self.step) * pace - waited))


def read_progress(directory: Path) -> JobProgress | None:
    """The progress of the job, by its chief or else worker 0; None before there is any."""
    chief = read_replica_progress(directory, "chief-0")
    return chief or read_replica_progress(directory, "worker-0")


def read_replica_progress(directory: Path, replica: str) -> JobProgress | None:
    """The progress of one replica such as `chief-0`; None when it has written none."""
    return _of(directory / f"{replica}.json")


def highest_step(directory: Path) -> int | None:
    """The highest step that any replica reached; None when no file tells one."""
    found = [_of(path) for path in directory.glob("*.json")]
    return max((progress.step for progress in found if progress), default=None)


def hangs_in_start(directory: Path, replica: str, since: float) -> bool:
    """Whether the process of `replica`, started at `since`, has told that it starts and nothing
    since. One that tells nothing at all is no program of the runtime's."""
    path = directory / f"{replica}.json"
    try:
        # File systems keep times more coarsely than the clock does.
        fresh = path.stat().st_mtime >= since - 2.0
    except OSError:
        return False
    progress = _of(path)
    return fresh and progress is not None and progress.phase == "starting"


def _of(path: Path) -> JobProgress | None:
    try:
        return _parse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None


def _parse(found: Mapping[str, Any]) -> JobProgress:
    return JobProgress(
        phase=str(found["phase"]),
        step=int(found["step"]),
        steps=int(found["steps"]),
        restored_step=int(found.get("restoredStep") or 0),
        loss=_number(found.get("loss")),
        accuracy=_number(found.get("accuracy")),
        examples_per_second=_number(found.get("examplesPerSecond")),
        training_since=_number(found.get("trainingSince")),
        updated_at=float(found["updatedAt"]),
    )


def _number(value: object) -> float | None:
    """None for what is no finite number: a program of the user's own may write anything."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and math.isfinite(value) else None  # type: ignore[arg-type]
