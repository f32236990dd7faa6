"""What the replicas of a stack want of the nodes and volumes of its cluster, for a preview to look
whether it is there."""

from __future__ import annotations

from typing import Any

from config.node_pools import NodePool
from config.replicas import Replicas
from config.stack import Stack
from training.pod_spec import GPU


def cluster_wants(stack: Stack) -> dict[str, Any]:
    """`nodes`: for each kind of node its labels and what is sent there. Of a pool that grows
    nothing can be told: its nodes come when they are asked for."""
    nodes: dict[str, dict[str, Any]] = {}
    for name, job in sorted(stack.jobs.items()):
        for role, replicas in job.roles.items() if not job.suspend else ():
            pool_name = replicas.node_pool or ""
            pool = stack.node_pools.get(pool_name)
            if pool is not None and pool.grows:
                continue
            shown = "master" if role == "chief" and job.master else role
            ask = {"path": f"ack-training:jobs.{name}.{shown}", "amounts": _amounts(replicas)}
            if pool is not None or ask["amounts"]:
                nodes.setdefault(pool_name, _nodes(pool_name, pool))["asks"].append(ask)
    claim = stack.storage.claim
    return {
        "nodes": [nodes[pool] for pool in sorted(nodes)],
        "claims": [claim] if claim else [],
    }


def _nodes(name: str, pool: NodePool | None) -> dict[str, Any]:
    if pool is None:
        return {"path": "ack-training:jobs", "labels": {}, "where": "of the cluster", "asks": []}
    return {
        "path": f"ack-training:nodePools.{name}",
        "labels": {key: list(values) for key, values in pool.selector.items()},
        "where": f"of node pool {name}",
        "asks": [],
    }


def _amounts(replicas: Replicas) -> dict[str, str]:
    """As Kubernetes writes quantities."""
    amounts = {
        "cpu": str(replicas.cpu) if replicas.cpu else "",
        "memory": str(replicas.memory) if replicas.memory else "",
        GPU: str(replicas.gpus) if replicas.gpus else "",
    }
    return {resource: amount for resource, amount in amounts.items() if amount}
