"""Examples a second of each way to train, and the memory of each role."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.memory import Memory, Usage, memory_of
from benchmarks.pairs import Comparison, spread
from benchmarks.report import Table
from benchmarks.workspace import Failed, Workspace, finish, interrupt, project_copy
from supervisor.client import read_status
from supervisor.job_progress import read_progress

_PLAIN = "one process"
_MODES: Mapping[str, Mapping[str, Any]] = {
    _PLAIN: {"chief": {}},
    "parameterServer: 1 chief, 2 workers, 2 ps": {
        "strategy": "parameterServer",
        "chief": {},
        "worker": {"replicas": 2},
        "ps": {"replicas": 2},
    },
    "multiWorkerMirrored: 1 chief, 1 worker": {
        "strategy": "multiWorkerMirrored",
        "chief": {},
        "worker": {"replicas": 1},
    },
    "multiWorkerMirrored: 1 chief, 2 workers": {
        "strategy": "multiWorkerMirrored",
        "chief": {},
        "worker": {"replicas": 2},
    },
}
_JOB = "measured"
_POINTS = 10
"""Speeds that are told in the course of a training; the first, with tracing, is left out."""
_BYTES_A_MEBIBYTE = 1024**2


def measure(directory: Path, rounds: int, steps: int) -> tuple[Table, Table]:
    """Each round trains `steps` steps in every mode, one after the other; speeds, then memory."""
    rates: dict[str, list[float]] = {mode: [] for mode in _MODES}
    usage: dict[str, Usage] = {mode: Usage() for mode in _MODES}
    with project_copy(directory) as project:
        for _ in range(rounds):
            for mode, job in _MODES.items():
                rates[mode].append(_train(project, job, steps, usage[mode]))
    plain = tuple(rates[_PLAIN])
    speeds = tuple(
        (mode, f"{median(found):,.0f}", spread(Comparison(tuple(found), plain).ratios))
        for mode, found in rates.items()
    )
    memories = tuple(
        (mode, role, _mebibytes(memory.rss), _mebibytes(memory.pss))
        for mode, used in usage.items()
        for role, memory in used.by_role().items()
    )
    totals = tuple((mode, "all", "", _mebibytes(used.total)) for mode, used in usage.items())
    return (
        Table(
            ("mode", "examples/s", "÷ one process"),
            speeds,
            (
                f"Medians of {rounds} rounds of {steps} steps of 64 examples of README's model; in"
                " brackets the least and the greatest ratio. All replicas share the same cores, so"
                " this tells what distribution costs on one machine, not what it gains on several.",
            ),
        ),
        Table(
            ("mode", "role", "RSS, MiB", "PSS, MiB"),
            tuple(sorted(memories + totals, key=lambda row: list(_MODES).index(row[0]))),
            (
                "The greatest of the role's replicas: RSS at its peak, PSS when that of the whole"
                " job was at its peak. RSS counts memory that processes share in each of them, PSS"
                " in equal parts, so that only PSS can be added up.",
            ),
        ),
    )


def _train(project: Workspace, job: Mapping[str, Any], steps: int, usage: Usage) -> float:
    """Examples a second once every function was traced; `usage` has seen the replicas."""
    stretch = max(1, steps // _POINTS)
    arguments = [f"--steps={steps}", f"--log-every={stretch}"]
    described = {"program": "training/programs/mnist.py", "args": arguments, **job}
    project.configure(
        {"target": "local", "tensorboard": {"enabled": False}, "jobs": {_JOB: described}}
    )
    state = project.state / "jobs" / _JOB
    up = project.start("up", "--yes", "--skip-preview")
    rates: dict[int, float] = {}
    try:
        while up.poll() is None:
            seen = read_progress(state / "progress")
            if seen and seen.step > stretch and seen.examples_per_second:
                rates[seen.step] = seen.examples_per_second
            usage.see(_snapshot(state))
            time.sleep(0.2)
    finally:
        # In time it has ended by itself.
        interrupt(up)
    finish(up, "up")
    project.destroy()
    # Fresh for the next mode, which would resume.
    shutil.rmtree(project.path / "data" / _JOB)
    if not rates:
        raise Failed(f"{steps} steps are too few to see a speed: give more --steps")
    return median(rates.values())


def _snapshot(state: Path) -> dict[str, Memory]:
    """The memory of each replica, by its name, that runs now."""
    status = read_status(state)
    pids = {name: seen["pid"] for name, seen in status.replicas.items()} if status else {}
    found = {name: memory_of(pid) for name, pid in pids.items() if pid}
    return {name: memory for name, memory in found.items() if memory}


def _mebibytes(count: int) -> str:
    return f"{count / _BYTES_A_MEBIBYTE:,.0f}"
