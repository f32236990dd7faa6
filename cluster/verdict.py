"""What the state of a job means: how far it is, and what keeps it from getting further."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cluster.job_troubles import job_troubles
from cluster.pod_troubles import pod_trouble
from cluster.seen import JobSeen, PodSeen
from cluster.troubles import Trouble

ABSENT, CREATED, RUNNING, RESTARTING = "Absent", "Created", "Running", "Restarting"
SUCCEEDED, FAILED, SUSPENDED = "Succeeded", "Failed", "Suspended"
FINISHED = (SUCCEEDED, FAILED)

# First what holds for good. A job whose chief succeeded is a success, also when the operator finds
# in the same look that a worker failed: it then writes both conditions, and Succeeded never after
# Failed (tfjob_controller.go UpdateJobStatus, pkg/util/status.go setCondition).
_BY_WEIGHT = (SUCCEEDED, FAILED, SUSPENDED, RESTARTING, RUNNING)


_WORTH_A_WORD_SECONDS = 3.0


@dataclass(frozen=True)
class Verdict:
    """`state` is one of the constants above, `message` the operator's own words for it; the
    heaviest of the `troubles` comes first."""

    state: str
    message: str
    troubles: tuple[Trouble, ...] = ()


def judge(seen: JobSeen, *, autoscaled: bool = False, operator_namespace: str = "") -> Verdict:
    """The verdict on a job as it was seen. `autoscaled`: its node pools can grow."""
    state = state_of(seen)
    message = next((c.message for c in seen.conditions if c.holds and c.type == state), "")
    if state in (ABSENT, *FINISHED):
        return Verdict(state, message)
    troubles = list(job_troubles(seen, state == SUSPENDED, operator_namespace))
    if not seen.suspend:
        found = [pod_trouble(pod, seen, autoscaled=autoscaled) for pod in seen.pods]
        troubles += [trouble for trouble in found if trouble is not None]
    return Verdict(state, message, tuple(sorted(troubles, key=_weight)))


def state_of(seen: JobSeen) -> str:
    """A TFJob that is being deleted counts as gone."""
    if not seen.uid or seen.deleting:
        return ABSENT
    holding = {condition.type for condition in seen.conditions if condition.holds}
    return next((state for state in _BY_WEIGHT if state in holding), CREATED)


def all_started(seen: JobSeen) -> bool:
    """Whether every replica has had a process."""
    return all(_has_started(seen.pod(replica)) for replica in seen.wanted)


def replicas_in_words(seen: JobSeen, limit: int = 12) -> str:
    """`chief-0 Running, worker-0 ContainerCreating`: each replica and what its pod does."""
    words = [f"{replica} {pod_state(seen.pod(replica))}" for replica in seen.wanted]
    more = len(words) - limit
    return ", ".join(words[:limit] + ([f"and {more} more"] if more > 0 else []))


def pod_state(pod: PodSeen | None) -> str:
    """One word, as `kubectl get pods` has it; "not created" where there is no pod."""
    if pod is None:
        return "not created"
    if pod.deleting:
        return "Terminating"
    if pod.phase in ("Succeeded", "Failed"):
        ended = pod.main.ended if pod.main else None
        return pod.reason or (ended.reason if ended and ended.exit_code else "") or pod.phase
    for container in (*pod.init, *pod.containers):
        if container.waiting:
            return container.waiting
    scheduled = pod.condition("PodScheduled")
    if pod.phase == "Pending" and scheduled is not None and not scheduled.holds:
        return scheduled.reason or pod.phase
    return pod.phase


class Patience:
    """Since when each trouble is there, by the clock of the one who looks: the cluster's may differ
    from it, and what was trouble before may be over."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], float] = {}

    def look(self, troubles: Iterable[Trouble], now: float) -> None:
        """Notes that these, and no others, are there at `now`."""
        self._since = {trouble.key: self._since.get(trouble.key, now) for trouble in troubles}

    def lasting(self, troubles: Iterable[Trouble], now: float) -> list[Trouble]:
        """Those that are worth a word: what lasts a moment only is how a job starts."""
        return [t for t in troubles if now - self._since[t.key] >= _WORTH_A_WORD_SECONDS]

    def forgive(self, troubles: Iterable[Trouble]) -> None:
        """Gives these their grace anew from the next look on."""
        for trouble in troubles:
            self._since.pop(trouble.key, None)

    def exhausted(self, troubles: Iterable[Trouble], now: float) -> list[Trouble]:
        """Those that will not pass by themselves."""
        return [
            trouble
            for trouble in troubles
            if trouble.grace_seconds is not None
            and now - self._since[trouble.key] >= trouble.grace_seconds
        ]


def _weight(trouble: Trouble) -> tuple[bool, float]:
    """What ends soonest first; stable among equals."""
    return trouble.grace_seconds is None, trouble.grace_seconds or 0.0


def _has_started(pod: PodSeen | None) -> bool:
    if pod is None:
        return False
    main = pod.main
    had_process = main is not None and (main.running or main.ended is not None or main.restarts > 0)
    return had_process or pod.phase in ("Succeeded", "Failed")
