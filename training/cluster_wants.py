"""What the replicas of a stack want of the nodes and volumes of its cluster, for a preview to look
whether it is there."""

from __future__ import annotations

from typing import Any

from config.replicas import Replicas
from config.stack import Stack
from training.pod_spec import GPU


def cluster_wants(stack: Stack) -> dict[str, Any]:
    """`nodes`: for each kind of node its labels and what is sent there. Of a pool that grows nothing
    can be told: its nodes come when they are asked for."""
    nodes: dict[str, dict[str, Any]] = {}
    for name, job in sorted(stack.jobs.items()):
        for role, replicas in job.roles.items() if not job.suspend else ():
            pool = stack.node_pools.get(replicas.node_pool or "")
            amounts = _amounts(replicas)
            if (pool is not None and pool.grows) or (pool is None and not amounts):
                continue
            labels = {} if pool is None else pool.selector
            key = replicas.node_pool or ""
            group = nodes.setdefault(
                key, {"labels": {each: list(values) for each, values in labels.items()}, "asks": []}
            )
            shown = "master" if role == "chief" and job.master else role
            ask = {"path": f"jobs.{name}.{shown}", "amounts": amounts}
            group["asks"].append({**ask, "pool": key} if key else ask)
    claim = stack.storage.claim
    return {
        "nodes": [nodes[key] for key in sorted(nodes)],
        "claims": [claim] if claim else [],
    }


def _amounts(replicas: Replicas) -> dict[str, str]:
    """As Kubernetes writes quantities."""
    amounts = {
        "cpu": str(replicas.cpu) if replicas.cpu else "",
        "memory": str(replicas.memory) if replicas.memory else "",
        GPU: str(replicas.gpus) if replicas.gpus else "",
    }
    return {resource: amount for resource, amount in amounts.items() if amount}
