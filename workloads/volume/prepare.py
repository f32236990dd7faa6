"""Makes the folders of the shared volume that pods mount, and marks whose they are."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from workloads.volume import owner_mark
from workloads.volume.filling import DATASETS
from workloads.volume.place import Refused, Volume, may_write
from workloads.volume.renaming import settle

_OPEN_TO_GROUP = 0o002
"""The umask under which folders are made: what one user of the group makes, the others may use."""
_BELOW_A_JOB = ("checkpoints", "logs", "export")


def prepare(volume: Volume, directories: Mapping[str, str]) -> list[str]:
    """`datasets` and each of `directories`, of which the values are job names, is there afterwards
    and this process can write in it; returns a sentence for each change, or that there was none.

    Raises Refused, with a sentence for each reason, for directories that belong to other stacks,
    lead out of the volume, or are not writable; nothing is changed then.
    """
    wanted = {
        volume.root / DATASETS: "",
        **{volume.root / d: job for d, job in directories.items()},
    }
    refused = [] if may_write(volume.root) else [volume.not_writable(volume.root)]
    for folder, job in wanted.items():
        refused += _reasons(volume, folder, job)
    if refused:
        # What is to be mended above is the same for all that lies below.
        raise Refused(*dict.fromkeys(refused))
    _inherit_group(volume.root)
    made: list[Path] = []
    new: list[Path] = []
    marked: list[Path] = []
    with _umask(_OPEN_TO_GROUP):
        try:
            for folder in wanted:
                made += _make(volume.root, folder)
            refused = list(_overlaps(volume, wanted))
            if not refused:
                jobs = {folder: job for folder, job in wanted.items() if job}
                new = [folder for folder in jobs if not owner_mark.is_ours(volume, folder)]
                marked = [f for f, job in jobs.items() if owner_mark.mark(volume, f, job)]
                # Once more, for a stack that came at the same time.
                refused = [
                    sentence
                    for folder in new
                    for sentence in owner_mark.refusals(volume, folder, jobs[folder])
                ]
            if refused:
                raise Refused(*refused)
        except BaseException:
            _take_back(made, [folder for folder in marked if folder in new])
            raise
    settle(volume)
    lines = [f"{volume.shown(folder)} was made" for folder in made]
    lines += [f"{volume.shown(f)} is now of job {wanted[f]}" for f in marked if f not in made]
    return lines or [f"{volume.shown(volume.root)} is prepared: nothing was changed"]


def _reasons(volume: Volume, folder: Path, job: str) -> Iterator[str]:
    """Why `folder` cannot be made or used, by what is there now."""
    shown = volume.shown(folder)
    existing = folder
    while not os.path.lexists(existing):
        existing = existing.parent
    try:
        if existing.is_symlink() and not existing.exists():
            yield f"{volume.shown(existing)} is a link to nothing: remove it"
        elif not volume.holds(existing):
            yield f"{shown} leads out of the volume, by a link: pods cannot follow it"
        elif not existing.is_dir():
            yield f"{volume.shown(existing)} is a file; it must be a folder"
        elif not may_write(existing):
            yield volume.not_writable(existing)
        elif job:
            for name in _BELOW_A_JOB:
                below = folder / name
                if below.is_dir() and not may_write(below):
                    yield volume.not_writable(below)
            if not owner_mark.is_ours(volume, folder):
                yield from owner_mark.refusals(volume, folder, job)
    except OSError as error:
        yield f"{shown} cannot be looked at: {error.strerror}"
    except RuntimeError:
        yield f"{shown} is a link to itself"


def _inherit_group(root: Path) -> None:
    """Folders that are made in `root` get its group; where it is not this user's it stays."""
    status = root.stat()
    if status.st_uid == os.geteuid() and not status.st_mode & stat.S_ISGID:
        with contextlib.suppress(OSError):
            root.chmod(stat.S_IMODE(status.st_mode) | stat.S_ISGID)


def _make(root: Path, folder: Path) -> list[Path]:
    """Makes `folder` and what is missing above it; returns what was made, the uppermost first."""
    made = []
    for place in (*reversed(folder.parents), folder):
        if not place.is_relative_to(root) or place.is_dir():
            continue
        try:
            place.mkdir(0o775)
        except FileExistsError:
            # Another was quicker.
            continue
        made.append(place)
        mode = stat.S_IMODE(place.stat().st_mode)
        if not mode & stat.S_ISGID:
            # No right to, where a server of files makes all users one: then all is one group's.
            with contextlib.suppress(PermissionError):
                place.chmod(mode | stat.S_ISGID)
    return made


def _overlaps(volume: Volume, wanted: Mapping[Path, str]) -> Iterator[str]:
    """A sentence for each two of the folders of which one is, or lies in, the other: by a link, or
    because the file system tells no capital letters from small ones."""
    chains = {folder: _chain(volume, folder) for folder in wanted}
    for one, other in itertools.permutations(wanted, 2):
        if not wanted[one] or chains[other][-1] not in chains[one]:
            continue
        if wanted[other] and chains[one] == chains[other] and one < other:
            # Said of the second of two that are the same.
            continue
        whose = f"the directory of job {wanted[other]}" if wanted[other] else "for datasets"
        yield (
            f"{volume.shown(one)} is in {volume.shown(other)}, {whose}: "
            f"set another ack-training:jobs.{wanted[one]}.directory"
        )


def _chain(volume: Volume, folder: Path) -> list[tuple[int, int]]:
    """The folders that lead from the volume's root to `folder`, and it itself, by what tells a
    folder from any other."""
    place = folder.resolve()
    below = place.relative_to(volume.root.resolve()).parts
    chain = []
    for _ in below:
        status = place.stat()
        chain.append((status.st_dev, status.st_ino))
        place = place.parent
    return chain[::-1]


def _take_back(made: list[Path], marked: list[Path]) -> None:
    for folder in marked:
        owner_mark.unmark(folder)
    for folder in reversed(made):
        # One that another has put something into stays.
        with contextlib.suppress(OSError):
            folder.rmdir()


@contextlib.contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
