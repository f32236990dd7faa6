"""Tells beside the resource how a job on a cluster goes."""

import contextlib
import time
from collections.abc import Sequence

from cluster.client import Cluster
from cluster.endings import ending, of_code, told_ends
from cluster.errors import ClusterError
from cluster.observe import replica_progress
from cluster.seen import JobSeen, PodSeen
from cluster.troubles import Trouble, told
from cluster.verdict import RESTARTING, RUNNING, SUCCEEDED, Verdict, replicas_in_words
from provider.kinds import Call
from supervisor.job_progress import JobProgress

_READ_SECONDS = 3.0
"""Between two looks into a log."""


class Narrator:
    """Shows progress: with each look in place, and for good when a quarter of the steps is done, a
    replica starts again, or a node is waited for."""

    def __init__(self, call: Call, cluster: Cluster) -> None:
        self._call = call
        self._cluster = cluster
        self._next_read = 0.0
        self._progress: JobProgress | None = None
        self._quarter = 0
        self._starts: dict[str, tuple[str, int]] = {}
        self._new_node = False

    def __call__(self, seen: JobSeen, verdict: Verdict, troubles: Sequence[Trouble]) -> None:
        self._tell_restarts(seen)
        if troubles:
            self._tell_trouble(troubles)
            return
        if verdict.state in (RUNNING, RESTARTING, SUCCEEDED):
            self._read(seen, final=verdict.state == SUCCEEDED)
        progress = self._progress
        if verdict.state == SUCCEEDED:
            if progress is not None:
                nothing_new = progress.steps and progress.restored_step >= progress.steps
                before = "was trained before: " if nothing_new else ""
                self._call.announce(f"{before}{progress.sentence()}")
            return
        if progress is None or verdict.state != RUNNING:
            self._call.report(f"{verdict.state.lower()}: {replicas_in_words(seen)}")
            return
        self._call.report(progress.sentence())
        if progress.quarter() > self._quarter:
            self._quarter = progress.quarter()
            self._call.announce(progress.sentence())

    def _tell_trouble(self, troubles: Sequence[Trouble]) -> None:
        sentence = told(troubles)
        first = troubles[0]
        if first.kind == "place" and first.grace_seconds is None and not self._new_node:
            self._new_node = True
            self._call.announce(sentence)
            return
        self._call.report(sentence)

    def _tell_restarts(self, seen: JobSeen) -> None:
        for pod in seen.pods:
            if pod.deleting:
                continue
            restarts = pod.main.restarts if pod.main else 0
            before = self._starts.get(pod.replica)
            self._starts[pod.replica] = (pod.uid, restarts)
            if before is None or before == (pod.uid, restarts):
                continue
            end = _end_before(seen, pod, before)
            words = f"ended with {end} and is" if end else "is"
            self._call.announce(f"{pod.replica} {words} started again")

    def _read(self, seen: JobSeen, *, final: bool) -> None:
        pod, now = seen.pod(seen.decider), time.monotonic()
        if pod is None or (now < self._next_read and not final):
            return
        self._next_read = now + _READ_SECONDS
        # What cannot be told must not end the waiting.
        with contextlib.suppress(ClusterError):
            found = replica_progress(self._cluster, seen.namespace, pod.name)
            self._progress = found or self._progress


def _end_before(seen: JobSeen, pod: PodSeen, before: tuple[str, int]) -> str:
    """`exit code 138 (it lost another replica)` of the start `before`; empty where nobody told."""
    container = pod.main
    if before[0] == pod.uid and container is not None and container.ended_before is not None:
        return ending(pod, container.ended_before, container)
    codes = [code for replica, code, _ in told_ends(seen) if replica == pod.replica]
    return of_code(codes[-1]) if codes else ""
