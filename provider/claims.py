"""A job's directory has one writer: two jobs in one would spoil each other's checkpoints."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from provider.kinds import ProviderError
from supervisor import client

JOB_DIRECTORY = "ACK_TRAINING_JOB_DIR"
_STOP_SECONDS = 30.0
"""Longer than the stop of a job takes, with its grace."""
_POLL_SECONDS = 0.2


def await_free(directory: Path, state: Path, report: Callable[[str], None]) -> None:
    """Returns once no other running or suspended job of this machine has `directory`, one that it
    lies in, or one inside it.

    A job of the same stack is waited for, since this `up` may be about to stop it: two jobs that
    swap their directories are replaced side by side. ProviderError names the one that stays, which
    may be of another stack with the same storage.
    """
    deadline = time.monotonic() + _STOP_SECONDS
    while (holder := _holder(directory, state)) is not None:
        stack = holder.parent.parent
        if stack != state.resolve().parent.parent or time.monotonic() > deadline:
            raise ProviderError(
                f"{directory} is in use by job {holder.name} of stack {stack.name}: stop that one, "
                "or set another ack-training:storage.path or directory of the job"
            )
        report(f"waits until {holder.name} has left {directory}")
        time.sleep(_POLL_SECONDS)


def _holder(directory: Path, state: Path) -> Path | None:
    wanted = directory.resolve()
    for other in sorted(client.supervised() - {state.resolve()}):
        held = _directory_of(other)
        if held is not None and (held.is_relative_to(wanted) or wanted.is_relative_to(held)):
            return other
    return None


def _directory_of(state: Path) -> Path | None:
    """The directory of the job that is supervised in `state`; None for a service."""
    try:
        spec = json.loads((state / "spec.json").read_text(encoding="utf-8"))
        return Path(spec["replicas"][0]["environment"][JOB_DIRECTORY]).resolve()
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None
