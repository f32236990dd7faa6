"""The replicas of one role of a job."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from config.base import Change, Section, Whole, setting
from config.names import Label
from config.node_pools import Tolerations
from config.quantities import CpuQuantity, MemoryQuantity

RestartPolicy = Literal["Never", "OnFailure", "Always", "ExitCode"]

_MOST_REPLICAS = 10_000
_MOST_GPUS = 2**31 - 1


class Replicas(Section):
    """A role: how many replicas it has, what each gets and what happens when one ends."""

    refused_keys: ClassVar = {
        "gpumem": "shares of a GPU are not offered; gpus is a whole number of GPUs",
        "gpu": "write gpus",
        "limits": "write cpuLimit and memoryLimit; gpus are a limit too",
        "requests": "cpu, memory and gpus stand directly under the role",
        "nodeselector": "write nodePool, one of nodePools",
        "affinity": "write nodePool, one of nodePools",
        "spot": "stands at the node pool: nodePools: {name: {spot: true}}",
        "resources": "cpu, memory and gpus stand directly under the role",
        "count": "write replicas",
    }
    looks_like: ClassVar = "{replicas: 2}"

    replicas: Annotated[int, Whole(1, _MOST_REPLICAS)] = setting(
        "Number of replicas, 1 to 10000. A role that is left out has none.", Change.REPLACES, 1
    )
    gpus: Annotated[int, Whole(0, _MOST_GPUS)] = setting(
        "Whole GPUs for each replica, at least 0. Not used on local.", Change.REPLACES, 0
    )
    cpu: CpuQuantity | None = setting(
        'CPU cores for each replica: 2, 0.5 or "500m". Not used on local.', Change.REPLACES
    )
    memory: MemoryQuantity | None = setting(
        'Memory for each replica, at least 1Mi: "8Gi", "500M". Not used on local.',
        Change.REPLACES,
    )
    cpu_limit: CpuQuantity | None = setting(
        "Most CPU for each replica; cpu when absent. Not used on local.", Change.REPLACES
    )
    memory_limit: MemoryQuantity | None = setting(
        "Most memory for each replica, beyond which it is killed; memory when absent. Not used on "
        "local.",
        Change.REPLACES,
    )
    shm: MemoryQuantity | None = setting(
        "Size of /dev/shm, which lies in memory and counts as memory of the replica; when absent, "
        "2Gi or half of its memory, whichever is less. Not used on local.",
        Change.REPLACES,
    )
    node_pool: Label | None = setting(
        "Node pool the replicas run on, one of nodePools. Not used on local.",
        Change.REPLACES,
    )
    tolerations: Tolerations = setting(
        "Taints that the replicas tolerate, besides those of their node pool. Not used on local.",
        Change.REPLACES,
        (),
    )
    restart_policy: RestartPolicy = setting(
        "When a replica that ended is started again. ExitCode: when it ended with 128 or more "
        "(killed, or it lost a peer), while 1 to 127 fail the job.",
        Change.REPLACES,
        "ExitCode",
    )


class SingleReplica(Replicas):
    """A role that a job has at most once."""

    looks_like: ClassVar = "{} or {replicas: 1}"

    replicas: Annotated[int, Whole(1, 1)] = setting(
        "Number of replicas: 1, as a job has this role at most once.", Change.REPLACES, 1
    )
