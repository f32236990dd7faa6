"""A volume besides the shared storage, as it stands under `volumes` of a job."""

from __future__ import annotations

from typing import ClassVar

from config.base import Change, Section, setting
from config.names import MountPath, Subdomain


class Volume(Section):
    """A volume that every replica of a job gets: one of claim, secret and configMap."""

    looks_like: ClassVar = "{claim: team-data, mountPath: /mnt/team}"
    refused_keys: ClassVar = {
        "hostpath": "not offered: it would give a pod the node's files; use a claim",
        "persistentvolumeclaim": "write claim",
    }

    claim: Subdomain | None = setting("PersistentVolumeClaim of the namespace.", Change.REPLACES)
    secret: Subdomain | None = setting("Secret of the namespace.", Change.REPLACES)
    config_map: Subdomain | None = setting("ConfigMap of the namespace.", Change.REPLACES)
    mount_path: MountPath = setting("Where replicas see it, absolute.", Change.REPLACES, ...)
    read_only: bool = setting(
        "Whether replicas may only read it; a Secret or ConfigMap is always so.",
        Change.REPLACES,
        False,
    )

    @property
    def sources(self) -> dict[str, str]:
        """Which of claim, secret and configMap are given."""
        found = {"claim": self.claim, "secret": self.secret, "configMap": self.config_map}
        return {key: value for key, value in found.items() if value is not None}
