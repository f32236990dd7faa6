"""`pulumi preview` of README's stack ÷ that of a Pulumi program in Python that declares nothing."""

from pathlib import Path
from statistics import median

from benchmarks.pairs import Comparison, in_turn, spread
from benchmarks.report import Table
from benchmarks.workspace import (
    Workspace,
    empty_program,
    project_copy,
    readme_stack,
    with_arguments,
)

GOAL = 1.5


def measure(directory: Path, rounds: int) -> Table:
    """Of the stack before anything was created, and when everything was."""
    with project_copy(directory) as project:
        empty = empty_program(directory)
        nothing = _compared(project, empty, rounds)
        # A few steps: what there is to preview afterwards is the same as after thousands.
        project.configure(with_arguments(readme_stack(), "--steps=20"))
        project.pulumi("up", "--yes", "--skip-preview")
        everything = _compared(project, empty, rounds)
    return Table(
        ("`pulumi preview` of README's stack", "stack, s", "empty program, s", "ratio", "goal"),
        (
            _row("nothing created yet", nothing),
            _row("everything created, nothing to change", everything),
        ),
        (f"Medians of {rounds} pairs; in brackets the least and the greatest ratio.",),
    )


def _compared(project: Workspace, empty: Workspace, rounds: int) -> Comparison:
    measures = {
        "empty": lambda: empty.pulumi("preview"),
        "project": lambda: project.pulumi("preview"),
    }
    # The first of each reads files and compiles modules that later ones find in memory.
    in_turn(measures, 1)
    found = in_turn(measures, rounds)
    return Comparison(found["project"], found["empty"])


def _row(what: str, found: Comparison) -> tuple[str, ...]:
    return (
        what,
        f"{median(found.values):.2f}",
        f"{median(found.baseline):.2f}",
        spread(found.ratios),
        f"≤ {GOAL}",
    )
