"""Tells beside the resource how a job on a cluster goes."""

import contextlib
import time
from collections.abc import Sequence

from cluster.client import Cluster
from cluster.errors import ClusterError
from cluster.masks import Masks
from cluster.observe import replica_progress
from cluster.seen import JobSeen
from cluster.starts import Starts
from cluster.troubles import Trouble, told
from cluster.verdict import RESTARTING, RUNNING, SUCCEEDED, Verdict, replicas_in_words
from provider.kinds import Call
from supervisor.job_progress import JobProgress

_READ_SECONDS = 3.0
"""Between two looks into a log."""


class Narrator:
    """Shows progress: with each look in place, and for good when a quarter of the steps is done, a
    replica starts again, or a node is waited for."""

    def __init__(self, call: Call, cluster: Cluster, masks: Masks) -> None:
        self._call = call
        self._cluster = cluster
        self._masks = masks
        self._next_read = 0.0
        self._progress: JobProgress | None = None
        self._quarter = 0
        self.starts = Starts()
        self._new_node = False

    def __call__(self, seen: JobSeen, verdict: Verdict, troubles: Sequence[Trouble]) -> None:
        for sentence in self.starts.look(seen, self._step(), time.monotonic()):
            self._call.announce(self._masks.plain(sentence, seen.pods))
        if troubles:
            self._tell_trouble(seen, troubles)
            return
        if verdict.state in (RUNNING, RESTARTING, SUCCEEDED):
            self._read(seen, final=verdict.state == SUCCEEDED)
        progress = self._progress
        if verdict.state == SUCCEEDED:
            if progress is not None:
                nothing_new = progress.steps and progress.restored_step >= progress.steps
                before = "was trained before: " if nothing_new else ""
                self._call.announce(f"{before}{progress.sentence()}")
            else:
                # Else the last that was shown would be how it began.
                self._call.report(f"succeeded: {replicas_in_words(seen)}")
            return
        if progress is None or verdict.state != RUNNING:
            self._call.report(f"{verdict.state.lower()}: {replicas_in_words(seen)}")
            return
        self._call.report(progress.sentence())
        if progress.quarter() > self._quarter:
            self._quarter = progress.quarter()
            self._call.announce(progress.sentence())

    def _step(self) -> int:
        return self._progress.step if self._progress else 0

    def _tell_trouble(self, seen: JobSeen, troubles: Sequence[Trouble]) -> None:
        # The kubelet's word may repeat a command, and with it a variable of the command's.
        sentence = self._masks.plain(told(troubles), seen.pods)
        first = troubles[0]
        if first.kind == "place" and first.grace_seconds is None and not self._new_node:
            self._new_node = True
            self._call.announce(sentence)
            return
        self._call.report(sentence)

    def _read(self, seen: JobSeen, *, final: bool) -> None:
        pod, now = seen.pod(seen.decider), time.monotonic()
        if pod is None or (now < self._next_read and not final):
            return
        self._next_read = now + _READ_SECONDS
        # What cannot be told must not end the waiting.
        with contextlib.suppress(ClusterError):
            found = replica_progress(self._cluster, seen.namespace, pod.name)
            self._progress = found or self._progress
