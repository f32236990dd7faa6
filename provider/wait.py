"""Waits for a supervised job or service, tells how it goes, and says why it failed."""

import time
from collections.abc import Callable
from pathlib import Path

from provider.kinds import Call, NotReady, Properties
from supervisor import client
from supervisor.client import Observation
from supervisor.job_progress import read_progress
from supervisor.printable import plain

_POLL_SECONDS = 0.2
_LOG_LINES = 15
_UNFINISHED = ("Created", "Running", "Restarting", "Suspended")


def until_healthy(call: Call, state: Path, outputs: Properties) -> None:
    """Returns once the service answers; NotReady when it ended, or does not answer in its time."""

    def done(seen: Observation) -> bool:
        ready = seen.alive and seen.status is not None and seen.status.ready
        call.report("ready" if ready else "starting")
        return ready

    _wait(call, state, outputs, done, seconds=None, goal="to answer")


def until_running(call: Call, state: Path, outputs: Properties, seconds: int | None) -> None:
    """Returns once every replica of the job was started and its chief runs, or it has succeeded."""
    tell = _Narrator(call, state)

    def done(seen: Observation) -> bool:
        tell(seen)
        return seen.state in ("Running", "Succeeded")

    _wait(call, state, outputs, done, seconds=seconds, goal="to run")


def until_succeeded(call: Call, state: Path, outputs: Properties, seconds: int | None) -> None:
    """Returns once the job has succeeded; NotReady when it failed, was lost, or took too long."""
    tell = _Narrator(call, state)

    def done(seen: Observation) -> bool:
        tell(seen)
        return seen.state == "Succeeded"

    _wait(call, state, outputs, done, seconds=seconds, goal="to succeed")


def tell_result(call: Call, state: Path) -> None:
    """Tells what the job came to, which the last look while it ran may have missed."""
    progress = read_progress(state / "progress")
    if progress is None:
        return
    nothing_new = progress.steps and progress.restored_step >= progress.steps
    before = "was trained before: " if nothing_new else ""
    call.announce(f"{before}{progress.sentence()}")


def _wait(
    call: Call,
    state: Path,
    outputs: Properties,
    done: Callable[[Observation], bool],
    *,
    seconds: int | None,
    goal: str,
) -> None:
    name = call.inputs["name"]
    limit = None if seconds is None else time.monotonic() + seconds
    while True:
        seen = client.observe(state)
        if done(seen):
            return
        if seen.state == "Lost":
            reason = (
                f"{name}: its supervisor was killed, and its replicas ended with it; "
                "`pulumi up` starts it again and training resumes from its last checkpoint"
            )
            raise NotReady([reason], outputs)
        if seen.state not in _UNFINISHED:
            raise NotReady([_failure(name, seen, state)], outputs)
        if call.cancelled():
            reason = f"{name}: no longer waited for; it goes on, and `pulumi up` waits for it again"
            raise NotReady([reason], outputs)
        if limit is not None and time.monotonic() > limit:
            reason = (
                f"{name}: waited {seconds} s for it {goal}, and it is still {seen.state} "
                f"({_replicas(seen)}); it goes on, and `pulumi up` waits for it again"
            )
            raise NotReady([reason], outputs)
        time.sleep(_POLL_SECONDS)


def _failure(name: str, seen: Observation, state: Path) -> str:
    """The state, the replica that failed first with its exit code, and its last lines."""
    if seen.status is None:
        return f"{name}: nothing was started in {state}"
    lines = [f"{name} {seen.state}: {seen.status.message}"]
    first = seen.status.first_failure
    if first is not None:
        # Not always the replica above: one that lost its peer fails in consequence.
        lines += [f"the first to fail was {first['replica']}, with exit code {first['exitCode']}"]
        lines += [f"  {line}" for line in first["lines"][-_LOG_LINES:]]
        lines += [f"whole log: {first['log']}"]
    # It is kept in the stack's state, and shown on terminals.
    return plain("\n".join(lines))


def _replicas(seen: Observation) -> str:
    replicas = {} if seen.status is None else seen.status.replicas
    return ", ".join(f"{name} {replica['state']}" for name, replica in replicas.items())


class _Narrator:
    """Shows progress: each second in place, and for good when a quarter of the steps is done."""

    def __init__(self, call: Call, state: Path) -> None:
        self._call = call
        self._progress = state / "progress"
        self._next_report = 0.0
        self._quarter = 0

    def __call__(self, seen: Observation) -> None:
        now = time.monotonic()
        if now < self._next_report:
            return
        self._next_report = now + 1
        progress = read_progress(self._progress)
        if progress is None and seen.state == "Succeeded":
            return
        if progress is None:
            self._call.report(f"{seen.state.lower()}: {_replicas(seen)}")
            return
        self._call.report(progress.sentence())
        if progress.quarter() > self._quarter:
            self._quarter = progress.quarter()
            self._call.announce(progress.sentence())
