"""Files by which others see how far a run is, each replaced as a whole."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runtime.cluster import Replica
from runtime.renewal import is_renewed


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """`path` holds `value` afterwards, whole and on disk; its directory is made if absent.

    A number that is not finite, for which JSON has no word, becomes null.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with aside.open("w", encoding="utf-8") as file:
        json.dump(_without_infinities(value), file, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def _without_infinities(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_infinities(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinities(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_json(path: Path) -> dict[str, Any]:
    """The object in `path`; empty when there is none that can be read."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def progress_directory(environment: Mapping[str, str]) -> Path | None:
    """Where replicas tell how far they are; None where nobody asks."""
    directory = environment.get("ACK_TRAINING_PROGRESS_DIR", "")
    return Path(directory) if directory else None


class Progress:
    """Keeps <directory>/<role>-<index>.json up to date; without a directory, does nothing."""

    def __init__(self, directory: Path | None, replica: Replica, steps: int) -> None:
        self._path = directory / f"{replica.name}.json" if directory else None
        self._state: dict[str, Any] = {
            "role": replica.role,
            "index": replica.index,
            # Who renewed itself was part of the job before: no limit of a start counts for it.
            "phase": "training" if is_renewed(os.environ) else "starting",
            "step": 0,
            "steps": steps,
            "loss": None,
            "accuracy": None,
            "examplesPerSecond": None,
            "trainingSince": None,
            "updatedAt": 0.0,
            "restoredStep": 0,
        }

    def update(self, **changes: Any) -> None:
        """The file says `changes` too afterwards."""
        now = time.time()
        if changes.get("phase") == "training" and self._state["trainingSince"] is None:
            self._state["trainingSince"] = now
        self._state.update(changes, updatedAt=now)
        if self._path:
            write_json(self._path, self._state)
