"""What keeps a job as a whole from getting further: the operator, or what forbids its pods."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cluster.seen import EventSeen, JobSeen
from cluster.troubles import Trouble

_OPERATOR_SECONDS = 20.0
"""The operator reacts in well under a second. One that just started, or that has a new leader to
choose (15 s lease), takes a while."""

_QUOTA_SECONDS = 20.0
"""What a quota counts may be pods that are ending, with 10 s of grace as usual."""

_FORBIDDEN_SECONDS = 8.0
"""A service account or a priority class may be made beside the job; the operator tries again after
5 ms, and twice as long each time."""

_EXTERNAL = "training-operator"
"""End of the managedBy of a TFJob that the operator itself sees to, and no other controller."""


def job_troubles(seen: JobSeen, suspended: bool, operator_namespace: str) -> Iterator[Trouble]:
    """The troubles of an unfinished job."""
    if _is_unnoticed(seen, suspended):
        where = f" in namespace {operator_namespace}" if operator_namespace else ""
        yield Trouble(
            "operator",
            "",
            f"the training operator does not react to it: is it running{where}?",
            _OPERATOR_SECONDS,
        )
    yield from _not_created(seen)


def _is_unnoticed(seen: JobSeen, suspended: bool) -> bool:
    if seen.managed_by and not seen.managed_by.endswith(_EXTERNAL):
        return False
    if seen.suspend != suspended and (seen.conditions or seen.suspend):
        # A suspension that was asked for and did not happen, or its end.
        return True
    if suspended:
        return False
    # It writes no condition as long as a pod of the job cannot be created: events tell then.
    if not seen.conditions and not seen.pods and not seen.events:
        return True
    ended = [pod for pod in seen.pods if not pod.deleting and pod.phase in ("Succeeded", "Failed")]
    return bool(seen.pods) and len(ended) == len(seen.pods) == len(seen.wanted)


def _not_created(seen: JobSeen) -> Iterator[Trouble]:
    """Pods that the operator may not create: FailedCreatePod, in
    pkg/controller.v1/control/pod_control.go."""
    missing = [replica for replica in seen.wanted if seen.pod(replica) is None]
    if not missing or seen.suspend:
        return
    failures = [event for event in seen.events if event.reason == "FailedCreatePod"]
    for event in reversed(failures):
        replica = _replica(event, seen.name)
        if replica in missing or (replica is None and missing):
            grace = _QUOTA_SECONDS if "exceeded quota" in event.message else _FORBIDDEN_SECONDS
            yield Trouble(
                "create", replica or missing[0], f"cannot be created: {_why(event)}", grace
            )
            return


def _replica(event: EventSeen, job: str) -> str | None:
    found = re.search(rf'pods? "{re.escape(job)}-([a-z]+-[0-9]+)"', event.message)
    return found[1] if found else None


def _why(event: EventSeen) -> str:
    message = event.message.removeprefix("Error creating: ")
    return re.sub(r'^pods? "[^"]*" is (forbidden|invalid): ', "", message)
