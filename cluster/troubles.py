"""What a trouble is, and how several of them are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Trouble:
    """Something that keeps a replica from running. It may pass: `grace_seconds` after it was first
    seen it will not, by itself; None where nobody can tell, so that it ends no wait.

    `about` is a replica, or empty for the job. `what` follows its name: "cannot pull …".
    """

    kind: str
    about: str
    what: str
    grace_seconds: float | None

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.about

    def sentence(self) -> str:
        return f"{self.about} {self.what}" if self.about else self.what


def told(troubles: Sequence[Trouble]) -> str:
    """One sentence for all: the same trouble of several replicas is told once."""
    first = troubles[0]
    others = len({t.about for t in troubles if t.kind == first.kind} - {first.about})
    if not others:
        return first.sentence()
    return f"{first.sentence()} (and {others} more replica{'s' if others > 1 else ''} likewise)"
