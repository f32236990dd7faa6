"""The log of one replica on a cluster, across restarts and new pods."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from cluster.client import Cluster
from cluster.errors import ClusterError, RefusedError, UnreachableError
from cluster.failure import first_failure
from cluster.masks import Masks
from cluster.observe import observe, pod_path
from cluster.seen import CONTAINER, JobSeen, PodSeen
from cluster.verdict import ABSENT, FAILED, FINISHED, SUSPENDED, judge, pod_state, state_of
from console.choice import TO_BE_MADE, NotFoundError
from console.cluster.log_lines import LogLines
from console.logs import Tell
from console.steady import notes
from supervisor.printable import printable

_POLL_SECONDS = 1.0
_QUIET_SECONDS = 5.0
"""After so long without a new line the job is looked at again: it may be over."""

_LOOK_SECONDS = 10.0
"""And so often while lines come."""


class ClusterLog:
    """The log of `replica` of a job, in whichever pod it runs."""

    def __init__(self, cluster: Cluster, namespace: str, job: str, replica: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._job = job
        self._replica = replica
        self._masks = Masks(cluster, namespace)

    def now(self, tell: Tell) -> str:
        seen = observe(self._cluster, self._namespace, self._job)
        pod = seen.pod(self._replica)
        if pod is None and is_over(seen):
            raise NotFoundError(gone(seen, self._replica))
        if pod is None or not has_log(pod):
            tell(self._masks.plain(not_yet(seen, self._replica), seen.pods))
            return ""
        tell_of_secrets(self._masks, pod, tell)
        text = "".join(self._shown(pod, LogLines(), {}))
        if not text:
            tell(f"{self._replica} has written no line yet")
        if state_of(seen) == FAILED:
            tell(self._masks.plain(_ended(seen), seen.pods))
        return text

    def follow(self, tell: Tell) -> Iterator[str]:
        tell = _without_repeats(tell)
        lines = LogLines()
        silent = True
        last: PodSeen | None = None
        for seen in self._looks(tell):
            pod, over = seen.pod(self._replica), is_over(seen)
            if pod is not None and last is not None:
                if pod.uid != last.uid:
                    tell(f"{self._replica} goes on in a new pod")
                    lines = LogLines()
                elif _restarts(pod) > _restarts(last):
                    tell(f"{self._replica} was started again")
            elif over and pod is None and last is None:
                raise NotFoundError(gone(seen, self._replica))
            elif pod is not None and not over:
                tell("following; ctrl-C ends this")
            if pod is not None and has_log(pod):
                if last is None or pod.uid != last.uid:
                    tell_of_secrets(self._masks, pod, tell)
                for text in self._unseen(pod, lines, over):
                    silent = False
                    yield text
                if silent:
                    tell(f"{self._replica} has written no line yet")
            elif not over:
                tell(self._masks.plain(not_yet(seen, self._replica), seen.pods))
            last = pod or last
            if over:
                ended = self._masks.plain(_ended(seen), seen.pods)
                tell(f"{ended}: nothing more will come")
                return

    def _looks(self, tell: Tell) -> Iterator[JobSeen]:
        """The job again and again; while it cannot be looked at, the user is told why."""
        since: float | None = None
        while True:
            try:
                seen = observe(self._cluster, self._namespace, self._job)
            except ClusterError as error:
                if since is None:
                    since = time.time()
                    for note in notes(error, since):
                        tell(note)
            else:
                if since is not None:
                    tell("the cluster answers again")
                since = None
                yield seen
            time.sleep(_POLL_SECONDS)

    def _unseen(self, pod: PodSeen, lines: LogLines, over: bool) -> Iterator[str]:
        """The lines that come for a while: of a job that is over, those that are there."""
        query = lines.since if over else {**lines.since, "follow": "true"}
        until = time.monotonic() + _LOOK_SECONDS
        try:
            for text in self._shown(pod, lines, query):
                yield text
                if not over and time.monotonic() > until:
                    return
        except (RefusedError, UnreachableError):
            # The container or its node has just gone, or the API server: the next look tells.
            return

    def _shown(self, pod: PodSeen, lines: LogLines, query: Mapping[str, str]) -> Iterator[str]:
        for text in lines.unseen(self._stream(pod, **query)):
            yield self._masks.hide(printable(text), [pod])

    def _stream(self, pod: PodSeen, **query: str) -> Iterator[bytes]:
        return self._cluster.stream(
            f"{pod_path(self._namespace, pod.name)}/log",
            _QUIET_SECONDS,
            container=CONTAINER,
            timestamps="true",
            **query,
        )


def tell_of_secrets(masks: Masks, pod: PodSeen, tell: Tell) -> None:
    """Tells where values cannot be hidden, as they cannot be read."""
    if unread := masks.unread([pod]):
        tell(f"what Secret {', '.join(unread)} holds is not hidden: it cannot be read")


def is_over(seen: JobSeen) -> bool:
    """Whether no replica of the job will be started any more."""
    return state_of(seen) in (ABSENT, *FINISHED)


def has_log(pod: PodSeen) -> bool:
    """Whether the replica has ever had a process in this pod."""
    main = pod.main
    return main is not None and (main.running or bool(main.ended or main.ended_before))


def not_yet(seen: JobSeen, replica: str) -> str:
    """Why a replica of an unfinished job has no log yet."""
    if state_of(seen) == SUSPENDED:
        return f"{replica} has no log now: {seen.name} is suspended"
    troubles = judge(seen).troubles
    trouble = next((t for t in troubles if t.about == replica), None)
    trouble = trouble or next((t for t in troubles if not t.about), None)
    state = pod_state(seen.pod(replica))
    why = f"{state}: {trouble.sentence()}" if trouble else state
    return f"{replica} has no log yet: {why}"


def gone(seen: JobSeen, replica: str) -> str:
    """What is left of a replica whose job is over and whose pod was removed."""
    if state_of(seen) == ABSENT:
        return f"{seen.name} is no longer in the cluster: {TO_BE_MADE}"
    return (
        f"the pod of {replica} is gone and its log with it, as cleanPodPolicy of {seen.name} asks: "
        "`make tensorboard` shows its curves, and cleanPodPolicy: None keeps pods"
    )


def _ended(seen: JobSeen) -> str:
    state = state_of(seen)
    if state == ABSENT:
        return "it no longer runs"
    first = first_failure(seen) if state == FAILED else None
    if first is not None:
        return f"it has failed: {first.replica} failed first, with {first.words}"
    return f"it has {state.lower()}"


def _restarts(pod: PodSeen) -> int:
    return pod.main.restarts if pod.main else 0


def _without_repeats(tell: Tell) -> Tell:
    """`tell` for notes that are not the same as the one before."""
    last = ""

    def tell_news(note: str) -> None:
        nonlocal last
        if note != last:
            last = note
            tell(note)

    return tell_news
