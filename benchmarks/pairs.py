"""Ratios of things that were measured in turn: A B A B …"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Comparison:
    """Measurements of one thing and of what it is compared with; index i of both is a pair."""

    values: tuple[float, ...]
    baseline: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values or len(self.values) != len(self.baseline):
            raise ValueError("a comparison needs pairs, one at least")
        if min(self.baseline) <= 0:
            raise ValueError("what is compared with must be above 0")

    @property
    def ratios(self) -> tuple[float, ...]:
        pairs = zip(self.values, self.baseline, strict=True)
        return tuple(value / baseline for value, baseline in pairs)

    @property
    def ratio(self) -> float:
        """The median of the ratios: a pair that was disturbed does not move it."""
        return median(self.ratios)


def in_turn(
    measures: Mapping[str, Callable[[], float]], rounds: int
) -> dict[str, tuple[float, ...]]:
    """What each of `measures` gave in each of `rounds` rounds, each round calling all of them."""
    found: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found[name].append(measure())
    return {name: tuple(values) for name, values in found.items()}


def spread(values: Sequence[float]) -> str:
    """`1.32 (1.28–1.40)`: the median, the least and the greatest."""
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"
