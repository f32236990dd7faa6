"""TensorBoard, as it stands under `ack-training:tensorboard`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar

from config.base import Change, Port, Section, setting
from config.names import PathPrefix
from config.quantities import Duration


class TensorBoard(Section):
    """One TensorBoard over the logs of every job."""

    looks_like: ClassVar = "{enabled: true}"

    enabled: bool = setting("Whether TensorBoard runs.", Change.IN_PLACE, True)
    port: Annotated[int, Port()] | None = setting(
        "Port of its pages, 1024 to 65535; when absent, a free one is chosen.", Change.RESTARTS
    )
    path_prefix: PathPrefix = setting(
        "Path its pages are under, for a proxy: tb/ and /tb are the same.", Change.RESTARTS, ""
    )
    reload_interval: Duration = setting(
        "Time between two looks for new events, 1s to 365d.",
        Change.RESTARTS,
        timedelta(seconds=5),
    )
