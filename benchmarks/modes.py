"""Examples a second of each way to train, and the memory of each role."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pairs import Comparison, spread
from benchmarks.processes import Memory, memory_of
from benchmarks.report import Table
from benchmarks.workspace import Failed, Workspace, finish, project_copy
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
_LOG_EVERY = 100
_BYTES_A_MEBIBYTE = 1024**2


def measure(directory: Path, rounds: int, steps: int) -> tuple[Table, Table]:
    """Each round trains `steps` steps in every mode, one after the other; speeds, then memory."""
    rates: dict[str, list[float]] = {mode: [] for mode in _MODES}
    peaks: dict[tuple[str, str], Memory] = {}
    with project_copy(directory) as project:
        for _ in range(rounds):
            for mode, job in _MODES.items():
                rate, memory = _train(project, job, steps)
                rates[mode].append(rate)
                for role, seen in memory.items():
                    peaks[mode, role] = seen.peak(peaks.get((mode, role), seen))
    plain = tuple(rates[_PLAIN])
    speeds = tuple(
        (mode, f"{median(found):,.0f}", spread(Comparison(tuple(found), plain).ratios))
        for mode, found in rates.items()
    )
    memories = tuple(
        (mode, role, _mebibytes(seen.rss), _mebibytes(seen.pss))
        for (mode, role), seen in peaks.items()
    )
    return (
        Table(
            ("mode", "examples/s", "÷ one process"),
            speeds,
            (
                f"Medians of {rounds} rounds of {steps} steps of 64 examples of README's model; in"
                " brackets the least and the greatest ratio. All replicas share the same cores and"
                " the model is small, so that on one machine more processes train slower, not"
                " faster; what they are for is to try out here what runs on many machines.",
            ),
        ),
        Table(
            ("mode", "role", "RSS, MiB", "PSS, MiB"),
            memories,
            ("The peak of any replica of the role. PSS counts shared memory once for all.",),
        ),
    )


def _train(
    project: Workspace, job: Mapping[str, Any], steps: int
) -> tuple[float, dict[str, Memory]]:
    """Examples a second once every function was traced, and each role's peak memory."""
    arguments = [f"--steps={steps}", f"--log-every={_LOG_EVERY}"]
    described = {"program": "training/programs/mnist.py", "args": arguments, **job}
    project.configure(
        {"target": "local", "tensorboard": {"enabled": False}, "jobs": {_JOB: described}}
    )
    state = project.state / "jobs" / _JOB
    up = project.start("up", "--yes", "--skip-preview")
    rates: dict[int, float] = {}
    peaks: dict[str, Memory] = {}
    while up.poll() is None:
        seen = read_progress(state / "progress")
        # The first stretch includes tracing.
        if seen and seen.step > _LOG_EVERY and seen.examples_per_second:
            rates[seen.step] = seen.examples_per_second
        _sample(state, peaks)
        time.sleep(0.2)
    finish(up, "up")
    project.destroy()
    # Fresh for the next mode, which would resume.
    shutil.rmtree(project.path / "data" / _JOB)
    if not rates:
        raise Failed(f"{steps} steps are too few to see a speed: give more --steps")
    return median(rates.values()), peaks


def _sample(state: Path, peaks: dict[str, Memory]) -> None:
    status = read_status(state)
    for name, replica in (status.replicas if status else {}).items():
        memory = memory_of(replica["pid"]) if replica["pid"] else None
        if memory:
            role = name.rpartition("-")[0]
            peaks[role] = memory.peak(peaks.get(role, memory))


def _mebibytes(count: int) -> str:
    return f"{count / _BYTES_A_MEBIBYTE:,.0f}"
