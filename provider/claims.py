"""A job's directory has one owner: two jobs in one would spoil each other's checkpoints."""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path

from provider.kinds import ProviderError
from supervisor import client

JOB_DIRECTORY = "ACK_TRAINING_JOB_DIR"
_MARK = ".owner.json"
"""In a job's directory: the state directory of the job that it belongs to, as long as that job is a
resource, whether it runs or has ended."""
_STOP_SECONDS = 30.0
"""Longer than the stop of a job takes, with its grace."""
_POLL_SECONDS = 0.2


def refusal(directory: Path, *states: Path) -> str | None:
    """Why a job may not have `directory`: it belongs to a job of another stack than those of
    `states`, where this job's processes are kept, or were before its stack was renamed. None where
    it may; a job of the same stack is no reason, since an `up` may be about to move it."""
    place, holder = _owner(directory)
    if holder is None or _stack(holder) in {_stack(state) for state in states}:
        return None
    return f"{_sentence(directory, holder)}; if that stack no longer exists, remove {place / _MARK}"


def take(directory: Path, state: Path, report: Callable[[str], None]) -> None:
    """Afterwards `directory` belongs to the job of `state`, and no other running or suspended job
    of this machine has it, one that it lies in, or one inside it.

    A job of the same stack is waited for, since this `up` may be about to stop it: two jobs that
    swap their directories are replaced side by side. ProviderError names the one that stays, which
    may be of another stack with the same storage.
    """
    refused = refusal(directory, state)
    if refused:
        raise ProviderError(refused)
    deadline = time.monotonic() + _STOP_SECONDS
    while (holder := _running_in(directory, state)) is not None:
        if _stack(holder) != _stack(state) or time.monotonic() > deadline:
            raise ProviderError(_sentence(directory, holder))
        report(f"waits until {holder.name} has left {directory}")
        time.sleep(_POLL_SECONDS)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / _MARK).write_text(json.dumps({"state": str(state.resolve())}), encoding="utf-8")


def leave(directory: Path, state: Path) -> None:
    """Afterwards `directory` no longer belongs to the job of `state`; what it holds stays."""
    if _marked(directory) == state.resolve():
        with contextlib.suppress(OSError):
            (directory / _MARK).unlink()


def _sentence(directory: Path, holder: Path) -> str:
    return (
        f"{directory} is in use by job {holder.name} of stack {_stack(holder).name}: destroy that "
        "one, or set another ack-training:storage.path or directory of the job"
    )


def _owner(directory: Path) -> tuple[Path, Path | None]:
    """Of `directory`, or of one that it lies in: that one, and the state directory of the job that
    it belongs to. What is no longer there owns nothing: a stack whose checkout was removed."""
    for place in (directory, *directory.parents):
        marked = _marked(place)
        if marked is not None and marked.is_dir():
            return place, marked
    return directory, None


def _marked(directory: Path) -> Path | None:
    try:
        mark = json.loads((directory / _MARK).read_text(encoding="utf-8"))
        return Path(mark["state"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _stack(state: Path) -> Path:
    """<stack>/jobs/<job> → <stack>, without links."""
    return state.resolve().parent.parent


def _running_in(directory: Path, state: Path) -> Path | None:
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
