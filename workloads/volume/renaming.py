"""What a stack marked before it was renamed is marked anew, once.

Only once: later there may be another stack of the former name, and what that one marks is its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workloads.volume.filling import DATASETS
from workloads.volume.place import Volume, owner_token


def renamed(volume: Volume, names: Path | None) -> Volume:
    """`volume`, with the former names of its stack that the file `names` lists, where this renaming
    was not yet carried out here."""
    formerly = _read(names)
    if formerly == _read(_done(volume)):
        return volume
    return replace(volume, formerly=tuple(formerly))


def settle(volume: Volume) -> None:
    """All that bore a former name bears the stack's own by now."""
    if volume.formerly:
        _done(volume).write_text(json.dumps(volume.formerly) + "\n", encoding="utf-8")


def _done(volume: Volume) -> Path:
    # A dataset's name holds no dot.
    return volume.root / DATASETS / f".renamed-{owner_token(volume.owner)}"


def _read(names: Path | None) -> Sequence[str]:
    try:
        return [] if names is None else [*map(str, json.loads(names.read_text(encoding="utf-8")))]
    except (OSError, ValueError, TypeError):
        # It is not there, or half there: a directory is refused then, and none is taken.
        return []
