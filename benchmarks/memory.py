"""Memory of processes, as Linux tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Memory:
    """Bytes. `rss` counts what several processes share in each of them, `pss` its share of it."""

    rss: int
    pss: int


def memory_of(pid: int) -> Memory | None:
    """The memory of a process now; None when it is gone or the system does not tell."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return None
    return parse_rollup(text)


def parse_rollup(text: str) -> Memory | None:
    """Linux' smaps_rollup; None when it lacks a figure, as that of a process that just ended."""
    found = {}
    for line in text.splitlines()[1:]:
        name, _, rest = line.partition(":")
        if name in ("Rss", "Pss"):
            found[name] = int(rest.split()[0]) * 1024
    return Memory(found["Rss"], found["Pss"]) if len(found) == 2 else None


class Usage:
    """The memory of a job's replicas, of all the moments at which it was seen."""

    def __init__(self) -> None:
        self._rss: dict[str, int] = {}
        self._fullest: dict[str, int] = {}

    def see(self, snapshot: Mapping[str, Memory]) -> None:
        """Takes the memory at one moment of each replica, by names such as `worker-0`."""
        for name, memory in snapshot.items():
            self._rss[name] = max(memory.rss, self._rss.get(name, 0))
        pss = {name: memory.pss for name, memory in snapshot.items()}
        if sum(pss.values()) > self.total:
            self._fullest = pss

    @property
    def total(self) -> int:
        """Bytes of all replicas together at their peak."""
        return sum(self._fullest.values())

    def by_role(self) -> dict[str, Memory]:
        """Of each role the greatest replica: its peak RSS, and its PSS at the job's peak."""
        roles: dict[str, Memory] = {}
        for name, rss in self._rss.items():
            role = name.rpartition("-")[0]
            seen = roles.get(role, Memory(0, 0))
            pss = self._fullest.get(name, 0)
            roles[role] = Memory(max(seen.rss, rss), max(seen.pss, pss))
        return roles
