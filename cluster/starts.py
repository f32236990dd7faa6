"""How often each replica has started, as far as one who looks again and again can see."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cluster.endings import ending, of_code, told_ends
from cluster.seen import JobSeen, PodSeen
from cluster.troubles import Trouble

_SHORT_SECONDS = 30.0
_IN_VAIN = 10
"""Starts in a row that each ended within _SHORT_SECONDS, and no step further, after which the next
one will as well. The operator itself would go on for ever: restarts by ExitCode are new pods, which
no backoffLimit counts. A job of this machine fails after as many."""


@dataclass(frozen=True)
class _Start:
    uid: str
    restarts: int
    since: float
    in_vain: int = 0


class Starts:
    """The starts of a job's replicas, from what is seen of it from now on."""

    def __init__(self) -> None:
        self._last: dict[str, _Start] = {}
        self._step = 0

    def look(self, seen: JobSeen, step: int, now: float) -> list[str]:
        """A sentence for each replica that has started again since the last look. `step` is how
        far the job has come."""
        further = step > self._step
        self._step = max(step, self._step)
        if further:
            self._last = {name: replace(start, in_vain=0) for name, start in self._last.items()}
        return [
            sentence
            for pod in seen.pods
            if not pod.deleting and (sentence := self._of(seen, pod, now))
        ]

    def troubles(self, seen: JobSeen) -> list[Trouble]:
        """Those of replicas that start again and again in vain."""
        return [
            Trouble("loop", name, _loop(seen, name, start.in_vain), 0.0)
            for name, start in self._last.items()
            if start.in_vain >= _IN_VAIN
        ]

    def _of(self, seen: JobSeen, pod: PodSeen, now: float) -> str | None:
        restarts = pod.main.restarts if pod.main else 0
        last = self._last.get(pod.replica)
        if last is None:
            self._last[pod.replica] = _Start(pod.uid, restarts, now)
            return None
        if (last.uid, last.restarts) == (pod.uid, restarts):
            return None
        # Of a container that restarts in place, CrashLoopBackOff tells, and takes its time.
        short = last.uid != pod.uid and now - last.since < _SHORT_SECONDS
        self._last[pod.replica] = _Start(pod.uid, restarts, now, last.in_vain + 1 if short else 0)
        end = _end_before(seen, pod, last.uid)
        return f"{pod.replica} {f'ended with {end} and is' if end else 'is'} started again"


def _end_before(seen: JobSeen, pod: PodSeen, uid: str) -> str:
    """`exit code 138 (it lost another replica)` of its last start; empty where nobody told."""
    container = pod.main
    if uid == pod.uid and container is not None and container.ended_before is not None:
        return ending(pod, container.ended_before, container)
    return _told(seen, pod.replica)


def _told(seen: JobSeen, replica: str) -> str:
    codes = [code for name, code, _ in told_ends(seen) if name == replica]
    return of_code(codes[-1]) if codes else ""


def _loop(seen: JobSeen, replica: str, times: int) -> str:
    end = _told(seen, replica)
    return (
        f"was started {times} times in a row and each time ended within {_SHORT_SECONDS:g} s"
        f"{f', with {end}' if end else ''}, without a new step"
    )
