"""What TensorFlow and the training operator ask of a job's roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, get_args

Role = Literal["chief", "worker", "ps", "evaluator"]
Strategy = Literal["parameterServer", "multiWorkerMirrored", "none"]

# In the order in which replicas are listed everywhere.
ROLES: tuple[Role, ...] = get_args(Role)

Counts = Mapping[Role, int]


def infer_strategy(counts: Counts) -> Strategy:
    """The strategy of a job that names none: what its roles can only mean."""
    if counts.get("ps", 0):
        return "parameterServer"
    if counts.get("chief", 0) + counts.get("worker", 0) > 1:
        return "multiWorkerMirrored"
    return "none"


def role_faults(
    counts: Counts, declared: Strategy | None, chief_key: str = "chief"
) -> Iterator[tuple[str, str]]:
    """Each rule that the roles break: the key (a role, or `strategy`) and what would be right.

    A parameter-server run needs a coordinator, which is the chief; without one it waits for ever
    (https://github.com/tensorflow/models/issues/11143). `chief_key` is how the stack spells chief.
    """
    chief, worker, ps = (counts.get(role, 0) for role in ("chief", "worker", "ps"))
    strategy = declared or infer_strategy(counts)
    if ps:
        absent = [role for role, count in (("chief", chief), ("worker", worker)) if not count]
        if absent:
            yield "ps", f"needs a chief and a worker beside it; add {' and '.join(absent)}"
        elif strategy != "parameterServer":
            yield (
                "strategy",
                f"must be parameterServer for a job with ps, got {strategy!r}; "
                "change it or remove ps",
            )
        return
    if not chief and not worker:
        if counts.get("evaluator", 0):
            yield "evaluator", "needs a chief or a worker beside it; it evaluates what they train"
        else:
            yield "", "needs at least one role that trains: chief or worker"
        return
    if strategy == "parameterServer":
        yield "strategy", f"parameterServer needs ps; add ps or choose {infer_strategy(counts)}"
    elif strategy == "none" and chief + worker > 1:
        trains = f"{chief_key} and worker are" if chief else "worker is"
        yield (
            "strategy",
            f"none is for one training replica, and {trains} {chief + worker}; "
            "choose multiWorkerMirrored",
        )


def replica_name(job: str, role: str, index: int) -> str:
    """The name of a replica's process, pod and Service, as the operator forms it."""
    return f"{job}-{role}-{index}"


def in_order(counts: Counts) -> list[tuple[Role, int]]:
    """Every replica as (role, index): chief, worker, ps, evaluator, indices ascending."""
    return [(role, index) for role in ROLES for index in range(counts.get(role, 0))]
