"""The training operator, as it stands under `ack-training:operator`."""

from __future__ import annotations

from typing import ClassVar

from config.base import Change, Section, setting
from config.names import FilledString, Image, Label, StoragePath


class Operator(Section):
    """Kubeflow's training operator v1, which makes the pods of a TFJob. Not used on local."""

    looks_like: ClassVar = "{install: false}"

    install: bool = setting(
        "Whether this stack installs it. One stack of a cluster does; the others, and clusters "
        "that have one, say false.",
        Change.IN_PLACE,
        True,
    )
    namespace: Label = setting("Namespace that it runs in.", Change.OTHER_NAMESPACE, "kubeflow")
    image: Image | None = setting(
        "Its container image; when absent, that of the pinned release.", Change.RESTARTS
    )
    manifests: StoragePath | None = setting(
        "Folder `manifests` of a checkout of its v1 sources, absolute or relative to the project, "
        "to be used instead of the pinned release.",
        Change.RESTARTS,
    )
    gang_scheduler: FilledString | None = setting(
        "Gang scheduler that it makes PodGroups for: volcano, or the name of the scheduler with "
        "the coscheduling plugin. With install: false, the one it was started with.",
        Change.RESTARTS,
    )
