"""Whether the nodes that are there could run what a stack asks for. All of it may change: each
finding is a notice, and nothing is said where the user may not look."""

from __future__ import annotations

import math
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


def misfits(group: Mapping[str, Any], nodes: Nodes) -> Iterator[str]:
    """A sentence for each of the replicas of `group` that none of its nodes could run even when
    empty, and one alone when there are no nodes.

    `{"path": what a sentence on all of it begins with, "where": "of node pool a10", "asks":
    [{"path": …, "amounts": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}}]}`.
    """
    found, complete = nodes
    if not found:
        yield f"{group['path']}: there is no such node, and its replicas wait until there is one"
    elif complete:
        for ask in group["asks"]:
            yield from _too_much(ask, str(group["where"]), found)


def _too_much(
    ask: Mapping[str, Any], where: str, nodes: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    for resource, asked in ask["amounts"].items():
        largest = max((_allocatable(node).get(resource, "0") for node in nodes), key=amount)
        if amount(str(asked)) <= amount(largest):
            continue
        if resource == GPU and not amount(largest):
            yield f"{ask['path']}: asks for {GPU}, which no node {where} offers"
        else:
            yield (
                f"{ask['path']}: asks for {asked} {resource}, and the largest node {where} offers "
                f"{_in_gib(largest) if resource == 'memory' else largest}"
            )


def amount(text: str) -> float:
    """A Kubernetes quantity as a number."""
    digits = text.rstrip("mkKMGTPEi")
    return float(digits) * _SUFFIXES[text[len(digits) :]]


def _in_gib(text: str) -> str:
    """Nodes tell their memory in Ki, down to the last one; rounded down, as it is to be enough."""
    return f"{math.floor(amount(text) / 2**30 * 10) / 10:g}Gi"


def _allocatable(node: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = (node.get("status") or {}).get("allocatable") or {}
    return found
