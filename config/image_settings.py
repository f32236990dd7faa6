"""What `make image` needs to know of a stack, read from its file: it works before the stack is
right in every other respect, and without Pulumi."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.base import NAMESPACE
from config.load import stack_file


@dataclass(frozen=True)
class ImageSettings:
    """`registry` is None where images are loaded into the cluster; `gpus` is whether any role of
    any job asks for GPUs."""

    registry: str | None
    gpus: bool


def image_settings(project_directory: Path, stack: str) -> ImageSettings:
    """Of the stack's file; of one that cannot be read, nothing is known."""
    written = stack_file(project_directory, stack)
    registry = _value(written, "imageRegistry")
    return ImageSettings(
        registry=registry if isinstance(registry, str) and registry else None,
        gpus=_asks_gpus(_value(written, "jobs")),
    )


def _value(written: dict[str, Any], key: str) -> Any:
    spellings = (f"{NAMESPACE}:{key}", f"{NAMESPACE}:config:{key}", key)
    return next((written[spelling] for spelling in spellings if spelling in written), None)


def _asks_gpus(jobs: Any) -> bool:
    if not isinstance(jobs, dict):
        return False
    roles = [role for job in jobs.values() if isinstance(job, dict) for role in job.values()]
    asked = [role.get("gpus", "0") for role in roles if isinstance(role, dict)]
    return any(gpus not in ("0", "", "null", "~") for gpus in asked)
