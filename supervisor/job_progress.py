"""What a replica tells of itself in its progress file (training/programs/runtime writes these)."""

import json
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
            parts.append("evaluated")
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
    try:
        return _parse(json.loads((directory / f"{replica}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _parse(found: Mapping[str, Any]) -> JobProgress:
    return JobProgress(
        phase=str(found["phase"]),
        step=int(found["step"]),
        steps=int(found["steps"]),
        restored_step=int(found.get("restoredStep") or 0),
        loss=found.get("loss"),
        accuracy=found.get("accuracy"),
        examples_per_second=found.get("examplesPerSecond"),
        training_since=found.get("trainingSince"),
        updated_at=float(found["updatedAt"]),
    )
