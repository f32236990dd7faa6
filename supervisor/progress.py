"""What the training runtime tells in its progress files `<progress_directory>/<replica>.json`."""

from __future__ import annotations

import json
import os
from typing import Any


def highest_step(directory: str | None) -> int | None:
    """The highest training step that any replica reached, None when no file tells one."""
    if directory is None:
        return None
    try:
        names = [name for name in os.listdir(directory) if name.endswith(".json")]
    except OSError:
        return None
    steps = [_read(os.path.join(directory, name)).get("step") for name in names]
    return max((int(step) for step in steps if isinstance(step, int | float)), default=None)


def has_begun(directory: str, replica: str, since: float) -> bool:
    """Whether a replica's process, started at `since`, told that it is past its start."""
    path = os.path.join(directory, f"{replica}.json")
    try:
        # File systems keep times more coarsely than the clock does.
        fresh = os.stat(path).st_mtime >= since - 2.0
    except OSError:
        return False
    return fresh and _read(path).get("phase", "starting") != "starting"


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
