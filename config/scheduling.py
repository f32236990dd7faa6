"""Where and when a job's replicas are scheduled, as it stands under `scheduling` of a job."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from config.base import Change, Section, Whole, setting
from config.names import FilledString, Subdomain

Gang = Literal["volcano", "scheduler-plugins", "pod-labels"]


class Scheduling(Section):
    """How the cluster schedules the job's replicas. Not used on local."""

    looks_like: ClassVar = "{gang: volcano, priorityClass: high}"

    priority_class: Subdomain | None = setting("PriorityClass of the replicas.", Change.REPLACES)
    gang: Gang | None = setting(
        "All replicas are scheduled together or none: volcano or scheduler-plugins by a PodGroup "
        "of the operator (operator.gangScheduler), pod-labels by ACK's own scheduler. When "
        "absent, each alone.",
        Change.REPLACES,
    )
    min_available: Annotated[int, Whole(1)] | None = setting(
        "Replicas that have to fit before any starts; when absent, all.", Change.REPLACES
    )
    queue: FilledString | None = setting("Queue of Volcano.", Change.REPLACES)
