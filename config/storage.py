"""The shared storage, as it stands under `ack-training:storage`."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from config.base import Change, Section, setting
from config.names import (
    AbsolutePath,
    FilledString,
    Host,
    StoragePath,
    Subdomain,
)
from config.quantities import Memory, MemoryQuantity

Options = Annotated[tuple[FilledString, ...], Field(strict=False)]

_DEFAULT_SIZE = Memory(100 * 1024**3)

CLUSTER_KINDS = ("storageClass", "nfs", "hostPath", "claim")


class Nfs(Section):
    """An NFS export that the nodes can mount."""

    looks_like: ClassVar = "{server: 10.0.0.5, path: /training}"

    server: Host = setting("Name or address of the server.", Change.NEW_ROOT, ...)
    path: AbsolutePath = setting("The exported folder, absolute.", Change.NEW_ROOT, "/")
    options: Options = setting("Mount options, such as vers=4.1.", Change.NEW_ROOT, ())


class Storage(Section):
    """Where datasets, checkpoints, logs and exported models are kept: path on local, one of the
    others on a cluster."""

    looks_like: ClassVar = "{path: data} or {hostPath: /srv/training}"

    declared_path: StoragePath | None = setting(
        "On local: folder that every replica sees, absolute or relative to the project; data when "
        "absent.",
        Change.NEW_ROOT,
        alias="path",
    )
    storage_class: Subdomain | None = setting(
        "StorageClass that gives ReadWriteMany volumes; a volume is made and kept.",
        Change.NEW_ROOT,
    )
    nfs: Nfs | None = setting("An NFS server.", Change.NEW_ROOT)
    host_path: AbsolutePath | None = setting(
        "Folder of the node, absolute: for clusters of one node only.", Change.NEW_ROOT
    )
    claim: Subdomain | None = setting(
        "A ReadWriteMany PersistentVolumeClaim that the namespace has already.", Change.NEW_ROOT
    )
    size: MemoryQuantity = setting(
        "Size that the claim asks for, at least 1Mi. It can grow, not shrink.",
        Change.IN_PLACE,
        _DEFAULT_SIZE,
    )

    @property
    def path(self) -> str:
        """The folder on this machine."""
        return self.declared_path or "data"

    def in_words(self) -> str:
        """What of a cluster is used: `hostPath /srv/training`, `nfs 10.0.0.5:/training`."""
        nfs = self.nfs and f"{self.nfs.server}:{self.nfs.path}"
        given = (self.storage_class, nfs, self.host_path, self.claim)
        pairs = zip(CLUSTER_KINDS, given, strict=True)
        return ", ".join(f"{kind} {value}" for kind, value in pairs if value is not None)

    @property
    def cluster_kinds(self) -> list[str]:
        """Which of the ways of a cluster are given."""
        given = (self.storage_class, self.nfs, self.host_path, self.claim)
        return [kind for kind, value in zip(CLUSTER_KINDS, given, strict=True) if value is not None]
