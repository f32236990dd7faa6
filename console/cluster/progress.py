"""How far replicas are, by the last lines of their logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from cluster.client import Cluster
from cluster.errors import RefusedError
from cluster.observe import pod_path
from cluster.progress import progress_of
from cluster.seen import CONTAINER, PodSeen
from cluster.together import together
from supervisor.job_progress import JobProgress

_LINES = 30
"""The newest line that tells a step is among so many, unless the program itself is talkative."""

_LOGS_A_LOOK = 16
"""Of a job with more replicas than that each look reads other ones."""

_SERVING = ("ps",)
"""Roles that count nothing."""


class ProgressReader:
    """What was read last of each replica. The log of one that has ended is read once."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._found: dict[str, JobProgress | None] = {}
        self._read_at: dict[str, float] = {}
        self._final: set[str] = set()

    def of(self, pod: PodSeen) -> JobProgress | None:
        return self._found.get(pod.uid)

    def refresh(self, pods: Iterable[PodSeen]) -> None:
        """Reads the logs that may have grown, those first that were not read for longest. Forgets
        pods that are not among these."""
        pods = list(pods)
        self._forget({pod.uid for pod in pods})
        due = [pod for pod in pods if self._may_tell_more(pod)]
        due.sort(key=lambda pod: self._read_at.get(pod.uid, 0.0))
        due = due[:_LOGS_A_LOOK]
        for pod, progress in zip(due, together([self._reading(pod) for pod in due]), strict=True):
            self._read_at[pod.uid] = time.monotonic()
            # A replica that has started again keeps its figures until it tells new ones.
            self._found[pod.uid] = progress or self._found.get(pod.uid)
            if pod.phase in ("Succeeded", "Failed"):
                self._final.add(pod.uid)

    def _may_tell_more(self, pod: PodSeen) -> bool:
        main = pod.main
        if main is None or pod.role in _SERVING or pod.uid in self._final:
            return False
        return main.running or main.ended is not None

    def _reading(self, pod: PodSeen) -> Callable[[], JobProgress | None]:
        return lambda: self._read(pod)

    def _read(self, pod: PodSeen) -> JobProgress | None:
        try:
            text = self._cluster.text(
                f"{pod_path(self._namespace, pod.name)}/log",
                container=CONTAINER,
                tailLines=_LINES,
                # From which the pace follows.
                timestamps="true",
            )
        except RefusedError:
            # Its node or the log is gone.
            return None
        return progress_of(text.splitlines(), time.time())

    def _forget(self, there: set[str]) -> None:
        for uid in set(self._found) - there:
            del self._found[uid]
        self._read_at = {uid: at for uid, at in self._read_at.items() if uid in there}
        self._final &= there
