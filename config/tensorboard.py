"""TensorBoard, as it stands under `ack-training:tensorboard`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from config.base import Change, Port, Section, setting
from config.names import PathPrefix
from config.quantities import Cpu, CpuQuantity, Duration, Memory, MemoryQuantity


class TensorBoard(Section):
    """One TensorBoard over the logs of every job."""

    looks_like: ClassVar = "{enabled: true}"

    enabled: bool = setting("Whether TensorBoard runs.", Change.IN_PLACE, True)
    port: Annotated[int, Port()] | None = setting(
        "Port of its pages, 1024 to 65535; when absent, a free one is chosen on local, and 6006 on "
        "a cluster.",
        Change.RESTARTS,
    )
    path_prefix: PathPrefix = setting(
        "Path its pages are under, for a proxy: tb/ and /tb are the same.", Change.RESTARTS, ""
    )
    reload_interval: Duration = setting(
        "Time between two looks for new events, 1s to 365d.",
        Change.RESTARTS,
        timedelta(seconds=5),
    )
    service_type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = setting(
        "Who can reach it on a cluster. ClusterIP: the cluster alone, and you by `make "
        "tensorboard`. NodePort and LoadBalancer open it, without a password, to all who reach the "
        "nodes or the load balancer. Not used on local.",
        Change.IN_PLACE,
        "ClusterIP",
    )
    cpu: CpuQuantity = setting(
        "CPU cores that it asks for on a cluster.", Change.REDEPLOYS, Cpu(500)
    )
    memory: MemoryQuantity = setting(
        "Memory that it gets on a cluster, at least 1Mi.", Change.REDEPLOYS, Memory(2 * 1024**3)
    )
