"""The shared storage, as it stands under `ack-training:storage`."""

from __future__ import annotations

from typing import ClassVar

from config.base import Change, Section, setting
from config.names import StoragePath


class Storage(Section):
    """Where datasets, checkpoints, logs and exported models are kept."""

    looks_like: ClassVar = "{path: data}"

    path: StoragePath = setting(
        "Folder that every replica sees, absolute or relative to the project.",
        Change.NEW_ROOT,
        "data",
    )
