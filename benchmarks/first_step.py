"""Time from `pulumi up` to the first training step ÷ that of the same processes started by hand."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pairs import Comparison, in_turn, spread
from benchmarks.processes import bare
from benchmarks.report import Table
from benchmarks.workspace import (
    Failed,
    Workspace,
    finish,
    interrupt,
    project_copy,
    readme_stack,
    with_arguments,
)
from supervisor.job_progress import read_progress

GOAL = 1.3
_JOB = "distributed-mnist"
_LIMIT_SECONDS = 600
_POLL_SECONDS = 0.05


def measure(directory: Path, rounds: int) -> Table:
    """Each round: README's stack from nothing but its data, then the same processes alone."""
    with project_copy(directory) as project:
        # Every step is written down, so that the first one is seen when it is done.
        project.configure(with_arguments(readme_stack(), "--steps=1000000", "--log-every=1"))
        # Fills the datasets, which is no part of either side, and tells what a stack starts.
        _stack(project)
        specs = _specs(project.state)
        found = in_turn(
            {
                "bare": lambda: _bare(project, specs, directory / "logs"),
                "stack": lambda: _stack(project),
            },
            rounds,
        )
    compared = Comparison(found["stack"], found["bare"])
    processes = sum(len(spec["replicas"]) for spec in specs)
    return Table(
        ("to the first training step", "`pulumi up`, s", "bare script, s", "ratio", "goal"),
        (
            (
                "README's stack",
                f"{median(compared.values):.1f}",
                f"{median(compared.baseline):.1f}",
                spread(compared.ratios),
                f"≤ {GOAL}",
            ),
        ),
        (
            f"Medians of {rounds} pairs; in brackets the least and the greatest ratio.",
            f"`pulumi up` includes its preview. Both sides start {processes} processes, TensorBoard"
            " and the model server among them, with the same commands and environments; the bare"
            " script starts them all at once and supervises none.",
        ),
    )


def _stack(project: Workspace) -> float:
    _forget(project)
    begin = time.monotonic()
    up = project.start("up", "--yes")
    try:
        seconds = _until_first_step(project.state, begin, lambda: _check_runs(up))
    finally:
        interrupt(up)
    project.destroy()
    return seconds


def _check_runs(up: subprocess.Popen[str]) -> None:
    if up.poll() is not None:
        finish(up, "up")
        raise Failed("pulumi up ended before the first step")


def _bare(project: Workspace, specs: list[dict[str, Any]], logs: Path) -> float:
    _forget(project)
    begin = time.monotonic()
    with bare(specs, logs):
        return _until_first_step(project.state, begin, lambda: None)


def _until_first_step(state: Path, begin: float, check: Callable[[], None]) -> float:
    progress = state / "jobs" / _JOB / "progress"
    while time.monotonic() - begin < _LIMIT_SECONDS:
        seen = read_progress(progress)
        if seen is not None and seen.step >= 1:
            return time.monotonic() - begin
        check()
        time.sleep(_POLL_SECONDS)
    raise Failed(f"no training step within {_LIMIT_SECONDS} s")


def _specs(state: Path) -> list[dict[str, Any]]:
    files = sorted(state.glob("*/*/spec.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def _forget(project: Workspace) -> None:
    """Each run trains from step 0."""
    shutil.rmtree(project.path / "data" / _JOB, ignore_errors=True)
    shutil.rmtree(project.state / "jobs" / _JOB / "progress", ignore_errors=True)
    (project.path / "data" / _JOB).mkdir(parents=True, exist_ok=True)
