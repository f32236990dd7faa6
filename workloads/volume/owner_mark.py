"""A job's directory has one owner: two jobs in one would spoil each other's checkpoints."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workloads.volume.place import Volume, owner_token

MARK = ".owner.json"
"""In a job's directory: the job and the stack that it belongs to."""

_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)


@dataclass(frozen=True)
class Owner:
    """Whose a directory is; `stack` is organization/project/stack. Both are empty where a mark is
    there that cannot be read."""

    stack: str
    job: str


def owner_of(directory: Path) -> Owner | None:
    """The owner that is marked in `directory` itself; None where there is no mark."""
    try:
        text = (directory / MARK).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return Owner("", "")
    try:
        mark = json.loads(text)
        if "state" in mark:
            # Of a stack that runs on a machine which has this folder too.
            state = Path(mark["state"])
            return Owner(str(state.parent.parent), state.name)
        return Owner(str(mark["stack"]), str(mark["job"]))
    except (ValueError, KeyError, TypeError):
        return Owner("", "")


def mark(volume: Volume, directory: Path, job: str) -> bool:
    """Afterwards `directory` is marked, by this stack or by another that was quicker. Returns
    whether it was this call that did, or that brought a mark of this stack up to date."""
    held = owner_of(directory)
    wanted = Owner(volume.owner, job)
    # Written whole under another name first: a mark that is half there names nobody.
    aside = directory / f"{MARK}.{owner_token(volume.owner)}"
    if held == wanted or (held is not None and not volume.is_own(held.stack)):
        # Of a run that was killed.
        aside.unlink(missing_ok=True)
        return False
    content = json.dumps({"stack": wanted.stack, "job": wanted.job}) + "\n"
    aside.write_text(content, encoding="utf-8")
    try:
        if held is not None:
            os.replace(aside, directory / MARK)
            return True
        return _put_first(aside, directory / MARK)
    finally:
        aside.unlink(missing_ok=True)


def unmark(directory: Path) -> None:
    """Takes back the mark that this process has just made."""
    with contextlib.suppress(OSError):
        (directory / MARK).unlink()


def is_ours(volume: Volume, directory: Path) -> bool:
    """Whether `directory` is marked as this stack's, so that nobody else can have come in since."""
    held = owner_of(directory)
    return held is not None and volume.is_own(held.stack)


def refusals(volume: Volume, directory: Path, job: str) -> Iterator[str]:
    """A sentence for each other stack whose job has `directory`, one that it lies in, or one inside
    it, whatever the spelling or the link that leads there. Looks at all folders inside it."""
    place = directory.resolve()
    root = volume.root.resolve()
    for above in (place, *place.parents):
        if above == root:
            break
        yield from _refusal(volume, directory, job, above)
    for folder, _, files in os.walk(place):
        if MARK in files and Path(folder) != place:
            yield from _refusal(volume, directory, job, Path(folder))


def _refusal(volume: Volume, directory: Path, job: str, held: Path) -> Iterator[str]:
    owner = owner_of(held)
    if owner is None or volume.is_own(owner.stack):
        return
    wanted = volume.shown(directory)
    shown = volume.shown(volume.root / held.relative_to(volume.root.resolve()))
    place = directory.resolve()
    if held == place:
        subject = wanted
    elif held.is_relative_to(place):
        subject = f"{wanted} holds {shown}, which"
    else:
        subject = f"{wanted} lies in {shown}, which"
    advice = f"set another ack-training:jobs.{job}.directory or ack-training:storage"
    if not owner.stack:
        yield (
            f"{subject} belongs to a job whose mark cannot be read: {advice}; "
            f"if there is no such job, remove {shown}/{MARK}"
        )
        return
    yield (
        f"{subject} belongs to job {owner.job} of stack {owner.stack}: {advice}; "
        f"if that stack no longer exists, remove {shown}/{MARK}"
    )


def _put_first(aside: Path, target: Path) -> bool:
    """Gives `aside` the name `target` unless something has it; the file server decides."""
    try:
        os.link(aside, target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links.
        try:
            with target.open("x", encoding="utf-8") as file:
                file.write(aside.read_text(encoding="utf-8"))
        except FileExistsError:
            return False
    return True
