"""Nodes that are there in the API alone: kwok has pods that are bound to them look as if they
ran."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolchain.cluster.api import Api
from toolchain.cluster.components import SIMULATED
from toolchain.cluster.place import Place

_KEY, _, _VALUE = SIMULATED.partition("=")

RESERVED = {"key": _KEY, "value": _VALUE, "effect": "NoSchedule"}
"""The taint that keeps pods off which must really run."""


@dataclass(frozen=True)
class NodeShape:
    """What one node offers: `cpu` in cores, `memory` as Kubernetes writes it (`64Gi`). Without
    taints it takes any pod, also one that a test needs to run."""

    cpu: int
    memory: str
    gpus: int = 0
    pods: int = 110
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = (RESERVED,)


def add_nodes(place: Place, name: str, count: int, shape: NodeShape) -> list[str]:
    """Afterwards the cluster has the nodes `name`-0, `name`-1 and so on, whose names are returned;
    those that it has already stay as they are."""
    api = Api(place)
    names = [f"{name}-{number}" for number in range(count)]
    for each in names:
        api.create("/api/v1/nodes", simulated_node(each, shape))
    return names


def simulated_node(name: str, shape: NodeShape) -> dict[str, Any]:
    resources = {"cpu": str(shape.cpu), "memory": shape.memory, "pods": str(shape.pods)}
    if shape.gpus:
        resources["nvidia.com/gpu"] = str(shape.gpus)
    own = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "type": "kwok"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": {_KEY: _VALUE}, "labels": own | {**shape.labels}},
        "spec": {"taints": [dict(taint) for taint in shape.taints]},
        "status": {"capacity": resources, "allocatable": resources},
    }
