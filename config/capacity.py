"""What a node pool can hold: what never fits is an error, what does not fit together a notice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from config.errors import Fault
from config.jobs import Job
from config.node_pools import NodePool
from config.quantities import Cpu, Memory
from config.replicas import Replicas
from config.stack import Stack


class _Amount(NamedTuple):
    """GPUs, millicores and bytes."""

    gpus: int
    cpu: int
    memory: int

    def plus(self, other: _Amount, times: int = 1) -> _Amount:
        return _Amount(*(mine + times * its for mine, its in zip(self, other, strict=True)))


_NONE = _Amount(0, 0, 0)
_KEYS = ("gpus", "cpu", "memory")


def capacity_faults(stack: Stack) -> Iterator[Fault]:
    """A replica that fits on no node of its pool, and a job that its pool can never hold whole:
    its replicas wait for each other, so a part of them is of no use."""
    for name, job in stack.jobs.items():
        for pool_name in {replicas.node_pool for replicas in job.roles.values()}:
            pool = stack.node_pools.get(pool_name or "")
            if pool is not None and pool_name is not None:
                yield from _job_faults(name, job, pool_name, pool)


def capacity_notices(stack: Stack) -> Iterator[str]:
    """A line for each node pool that cannot hold all of the stack's jobs at once."""
    for pool_name, pool in sorted(stack.node_pools.items()):
        if pool.max is None:
            continue
        users = [
            (name, _total(job, pool_name))
            for name, job in sorted(stack.jobs.items())
            if not job.suspend and _total(job, pool_name) != _NONE
        ]
        whole = _NONE
        for _, amount in users:
            whole = whole.plus(amount)
        if len(users) < 2:
            continue
        for key, needed, node in zip(_KEYS, whole, _node(pool), strict=True):
            if node is not None and needed > node * pool.max:
                names = ", ".join(name for name, _ in users)
                yield (
                    f"ack-training:nodePools.{pool_name}: {names} together ask for "
                    f"{_shown(key, needed)}, and its {pool.max} nodes have "
                    f"{_shown(key, node * pool.max)}: they run one after the other, or wait for "
                    "each other where they are not scheduled as gangs"
                )


def _job_faults(name: str, job: Job, pool_name: str, pool: NodePool) -> Iterator[Fault]:
    fits = True
    for role, replicas in job.roles.items():
        if replicas.node_pool != pool_name:
            continue
        role_key = "master" if role == "chief" and job.master else role
        for key, needed, node in zip(_KEYS, _needs(replicas), _node(pool), strict=True):
            if node is not None and needed > node:
                fits = False
                yield Fault(
                    ("jobs", name, role_key, key),
                    f"{_shown(key, needed)} fit on no node of {pool_name}, which has "
                    f"{_shown(key, node)}",
                )
    if not fits or pool.max is None:
        return
    alone = 0
    for replicas in job.roles.values():
        if replicas.node_pool == pool_name and any(
            node is not None and 2 * needed > node
            for needed, node in zip(_needs(replicas), _node(pool), strict=True)
        ):
            alone += replicas.replicas
    if alone > pool.max:
        yield Fault(
            ("jobs", name),
            f"{alone} of its replicas need a node of {pool_name} each, and it has at most "
            f"{pool.max} nodes",
        )
        return
    for key, needed, node in zip(_KEYS, _total(job, pool_name), _node(pool), strict=True):
        if node is not None and needed > node * pool.max:
            yield Fault(
                ("jobs", name),
                f"asks for {_shown(key, needed)} of {pool_name}, whose {pool.max} nodes have "
                f"{_shown(key, node * pool.max)}",
            )


def _total(job: Job, pool: str) -> _Amount:
    total = _NONE
    for replicas in job.roles.values():
        if replicas.node_pool == pool:
            total = total.plus(_needs(replicas), replicas.replicas)
    return total


def _needs(replicas: Replicas) -> _Amount:
    return _Amount(
        replicas.gpus,
        replicas.cpu.millicores if replicas.cpu else 0,
        replicas.memory.size_bytes if replicas.memory else 0,
    )


def _node(pool: NodePool) -> tuple[int | None, int | None, int | None]:
    """What one node has; None for what the config does not say."""
    return (
        pool.gpus,
        pool.cpu.millicores if pool.cpu else None,
        pool.memory.size_bytes if pool.memory else None,
    )


def _shown(key: str, amount: int) -> str:
    if key == "gpus":
        return f"{amount} GPU" if amount == 1 else f"{amount} GPUs"
    return f"{Cpu(amount)} CPU" if key == "cpu" else f"{Memory(amount)} memory"
