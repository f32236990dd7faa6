"""The shared volume as its program sees it, and as the user does who is to mend something."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class Refused(Exception):
    """Why nothing can be done: sentences of one line, each of which names a path or a setting."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences: Sequence[str] = sentences


@dataclass(frozen=True)
class Volume:
    """`root` is where it is mounted here, `path` where it lies on `where`; `owner` is the stack
    that this program works for, organization.project.stack; `formerly` what it was called when it
    marked what it has not marked since."""

    root: Path
    path: str
    where: str
    owner: str
    formerly: Sequence[str] = ()

    def is_own(self, stack: str) -> bool:
        """Whether `stack` is the one that this program works for."""
        return stack == self.owner or stack in self.formerly

    def shown(self, place: Path) -> str:
        """`place`, below the root, by the path that it has where the user can reach it."""
        return posixpath.normpath(
            posixpath.join(self.path, place.relative_to(self.root).as_posix())
        )

    def holds(self, place: Path) -> bool:
        """Whether `place` is in the volume once its links are followed."""
        return place.resolve().is_relative_to(self.root.resolve())

    def not_writable(self, place: Path) -> str:
        """The sentence for a folder that this process may not write in."""
        user, group = os.geteuid(), os.getegid()
        shown = self.shown(place)
        return (
            f"{shown} is not writable for user {user}, group {group}: "
            f"on {self.where} run chown {user}:{group} {shown}"
        )


def owner_token(owner: str) -> str:
    """12 hex digits that stand for `owner` in the name of a file."""
    return hashlib.sha256(owner.encode()).hexdigest()[:12]


def may_write(folder: Path) -> bool:
    """Whether this process can make files in `folder`. A server of files is asked for its own
    answer, which may be another than the folder's mode says."""
    return os.access(folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=True)
