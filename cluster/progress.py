"""How far a replica is, by the last lines of its log: those that the runtime prints.

On a cluster its progress file lies inside the pod. The lines are those of training/programs/
runtime: curves.py, finish.py, run.py and synchronous.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cluster.api_objects import seconds
from supervisor.job_progress import JobProgress

_STAMPED = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) (.*)$")
_STEP = re.compile(r"^step (\d+)/(\d+)((?:  [\w./-]+ \S+)*)  (\d+) examples/s$")
_RESULT = re.compile(r"^step (\d+)  examples \d+((?:  [\w./-]+ \S+)+)$")
_EVALUATED = re.compile(r"^evaluation at step (\d+)((?:  [\w./-]+ \S+)+)$")
_CONTINUES = re.compile(r"^continues from .*-(\d+)$")
_REACHED = re.compile(r"^run \d+ already reached step (\d+)$")
_EXPORTED = re.compile(r"^exported as ")


@dataclass(frozen=True)
class _Pace:
    """The first of the lines that tell a step, and when."""

    step: int
    at: float


def progress_of(lines: Iterable[str], now: float) -> JobProgress | None:
    """The progress that the newest of the lines tell; None when none tells any.

    Lines may begin with the time that the cluster put there (`timestamps=true`), from which the
    pace follows; without it, `now` in Unix seconds is when the last one was read.
    """
    found: JobProgress | None = None
    first: _Pace | None = None
    for line in lines:
        at, text = _stamp(line)
        found = _next(found, text.rstrip(), now if at is None else at)
        if found is not None and found.phase == "training" and at is not None:
            first = first or _Pace(found.step, at)
    if found is None or first is None:
        return found
    return replace(found, training_since=_since(found, first))


def _next(before: JobProgress | None, text: str, now: float) -> JobProgress | None:
    """The progress after one more line."""
    step = _STEP.match(text)
    if step is not None:
        restored = before.restored_step if before else 0
        return _progress("training", step[1], step[2], restored, _figures(step[3]), step[4], now)
    result = _RESULT.match(text)
    if result is not None:
        restored, total = (before.restored_step, before.steps) if before else (0, 0)
        total = max(total, int(result[1]))
        return _progress("done", result[1], total, restored, _figures(result[2]), None, now)
    evaluated = _EVALUATED.match(text)
    if evaluated is not None and (before is None or before.phase == "evaluating"):
        # Of an evaluator, which tells nothing else, and not how many steps there will be.
        figures = _figures(evaluated[2])
        return _progress("evaluating", evaluated[1], 0, 0, figures, None, now)
    reached = _REACHED.match(text)
    if reached is not None:
        return _progress("done", reached[1], reached[1], int(reached[1]), {}, None, now)
    continues = _CONTINUES.match(text)
    if continues is not None:
        # A replica that starts again tells its steps with its next line.
        total = before.steps if before else 0
        return _progress("starting", continues[1], total, int(continues[1]), {}, None, now)
    if before is not None and _EXPORTED.match(text):
        return replace(before, phase="done", updated_at=now)
    return before


def _progress(
    phase: str,
    step: str,
    steps: str | int,
    restored: int,
    figures: Mapping[str, float],
    pace: str | None,
    now: float,
) -> JobProgress:
    return JobProgress(
        phase=phase,
        step=int(step),
        steps=int(steps),
        restored_step=restored,
        loss=figures.get("loss"),
        accuracy=figures.get("accuracy"),
        examples_per_second=None if pace is None else float(pace),
        training_since=None,
        updated_at=now,
    )


def _figures(text: str) -> dict[str, float]:
    """`  loss 0.9557  accuracy 0.722` as numbers; without what is none, such as nan."""
    found = {}
    for pair in text.split("  "):
        name, _, value = pair.partition(" ")
        try:
            number = float(value)
        except ValueError:
            continue
        if number - number == 0:
            found[name] = number
    return found


def _since(found: JobProgress, first: _Pace) -> float | None:
    """When training would have begun at the pace of the lines: JobProgress counts from there."""
    done = found.step - first.step
    if done <= 0:
        return None
    pace = (found.updated_at - first.at) / done
    return found.updated_at - pace * (found.step - found.restored_step)


def _stamp(line: str) -> tuple[float | None, str]:
    stamped = _STAMPED.match(line)
    if stamped is None:
        return None, line
    # Nanoseconds are more than the standard library reads.
    return seconds(re.sub(r"(\.\d{6})\d+", r"\1", stamped[1])) or None, stamped[2]
