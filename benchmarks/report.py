"""The figures of one section as Markdown, and their place in docs/benchmarks.md."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """`rows` have as many cells as `header`; `notes` are sentences below it."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise ValueError("each row needs one cell for each column")

    def markdown(self) -> str:
        lines = [_row(self.header), _row(["---"] * len(self.header)), *map(_row, self.rows)]
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def with_section(page: str, name: str, content: str) -> str:
    """`page` with `content` between the markers of section `name`. ValueError without those."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"the page has no {begin} … {end}")
    return f"{before}{begin}\n{content.strip()}\n{end}{after}"
