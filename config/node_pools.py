"""The node pools that replicas can ask for, as they stand under `ack-training:nodePools`."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from config.base import Change, Section, Whole, setting
from config.labels import LabelValues, Toleration
from config.quantities import CpuQuantity, MemoryQuantity

Tolerations = Annotated[tuple[Toleration, ...], Field(strict=False)]

_MOST_NODES = 15_000


class NodePool(Section):
    """Nodes of one kind in an existing cluster."""

    looks_like: ClassVar = "{selector: {pool: a10}, max: 4, gpus: 1}"
    refused_keys: ClassVar = {
        "labels": "write selector",
        "nodeselector": "write selector",
        "taints": "write tolerations",
        "nodes": "write max, the most nodes it has",
    }

    selector: dict[str, LabelValues] = setting(
        "Labels that its nodes have, by key; a list of values means one of them.",
        Change.REPLACES,
        default_factory=dict,
    )
    tolerations: Tolerations = setting(
        "Taints of its nodes that replicas sent there tolerate.", Change.REPLACES, ()
    )
    min: Annotated[int, Whole(0, _MOST_NODES)] | None = setting(
        "Fewest nodes. Below max: an autoscaler adds nodes, so that a replica which does not fit "
        "yet is waited for.",
        Change.NO_CHANGE,
    )
    max: Annotated[int, Whole(1, _MOST_NODES)] | None = setting(
        "Most nodes. With what one node has, it tells at preview what can never fit.",
        Change.NO_CHANGE,
    )
    gpus: Annotated[int, Whole(0, 1024)] | None = setting("GPUs of a node.", Change.NO_CHANGE)
    cpu: CpuQuantity | None = setting("CPU cores of a node that pods can have.", Change.NO_CHANGE)
    memory: MemoryQuantity | None = setting(
        "Memory of a node that pods can have.", Change.NO_CHANGE
    )
    spot: bool = setting(
        "Whether its nodes may be taken away: replicas sent there tolerate the taints that "
        "clouds put on such nodes.",
        Change.REPLACES,
        False,
    )

    @property
    def grows(self) -> bool:
        """Whether an autoscaler adds nodes."""
        return self.min is not None and self.max is not None and self.min < self.max
