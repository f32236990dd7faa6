"""What the user of a cluster should know although nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from config.capacity import capacity_notices
from config.stack import Stack


def cluster_notices(stack: Stack) -> Iterator[str]:
    """One line each."""
    yield from capacity_notices(stack)
    if stack.tensorboard.enabled and stack.tensorboard.service_type != "ClusterIP":
        yield (
            f"ack-training:tensorboard.serviceType: {stack.tensorboard.service_type} opens "
            "TensorBoard, without a password, to all who can reach it"
        )
    for name, job in sorted(stack.jobs.items()):
        path = f"ack-training:jobs.{name}"
        if job.serve:
            yield (
                f"{path}.serve: is not served on a cluster in this version; the exports are kept "
                "in the job's folder of the shared storage"
            )
        if job.scheduling.gang == "pod-labels":
            yield (
                f"{path}.scheduling.gang: pod-labels is read by ACK's scheduler (a Pro cluster); "
                "any other scheduler ignores it"
            )
        elif job.scheduling.gang is None and stack.operator.gang_scheduler:
            yield (
                f"{path}.scheduling.gang: is absent, and the operator still makes a PodGroup of "
                f"the job, as operator.gangScheduler is {stack.operator.gang_scheduler}"
            )
