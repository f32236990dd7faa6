"""Whether the nodes that are there could run what a stack asks for. All of it may change: each
finding is a notice, and nothing is said where the user may not look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError

GPU = "nvidia.com/gpu"

_PAGE = 500
_SUFFIXES = {"m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_SUFFIXES |= {f"{prefix}i": 1024.0 ** (power + 1) for power, prefix in enumerate("KMGTPE")}

Nodes = tuple[Sequence[Mapping[str, Any]], bool]
"""Some nodes, and whether those are all."""


def matching(cluster: Cluster, selector: Mapping[str, Sequence[str]]) -> Nodes | None:
    """The nodes with one of the values of each label; None where the user may not see them."""
    labels = ",".join(f"{key} in ({','.join(values)})" for key, values in sorted(selector.items()))
    query = {"labelSelector": labels} if labels else {}
    try:
        found = cluster.get("/api/v1/nodes", limit=_PAGE, **query)
    except RefusedError:
        return None
    return found.get("items") or [], not (found.get("metadata") or {}).get("continue")


def misfits(wants: Sequence[Mapping[str, Any]], nodes: Nodes) -> Iterator[str]:
    """A sentence for each of `wants`, the replicas that are sent to these nodes, that none of them
    could run even when empty, and one alone when there are no nodes.

    Each is `{"path": "jobs.m.worker", "pool": …, "amounts": {"cpu": "4", "memory": "16Gi",
    "nvidia.com/gpu": "1"}}`; `pool` is left out where any node will do.
    """
    found, complete = nodes
    if not found:
        yield (
            f"nodePools.{wants[0]['pool']}: no node of the cluster has its labels: "
            f"{', '.join(str(want['path']) for want in wants)} would wait for one"
            if wants[0].get("pool")
            else "the cluster has no nodes: jobs would wait for one"
        )
        return
    if not complete:
        return
    for want in wants:
        yield from _too_much(want, found)


def _too_much(want: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    where = f"of node pool {want['pool']}" if want.get("pool") else "of the cluster"
    for resource, asked in want["amounts"].items():
        offered = [_allocatable(node).get(resource, "0") for node in nodes]
        largest = max(offered, key=amount)
        if amount(str(asked)) <= amount(largest):
            continue
        if resource == GPU and not amount(largest):
            yield f"{want['path']}: asks for {GPU}, which no node {where} offers"
        else:
            yield (
                f"{want['path']}: asks for {asked} {resource}, and the largest node {where} offers "
                f"{largest}"
            )


def amount(text: str) -> float:
    """A Kubernetes quantity as a number."""
    digits = text.rstrip("mkKMGTPEi")
    return float(digits) * _SUFFIXES[text[len(digits) :]]


def _allocatable(node: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = (node.get("status") or {}).get("allocatable") or {}
    return found
