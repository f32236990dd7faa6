"""The PersistentVolume and the claim of the shared storage."""

from __future__ import annotations

import hashlib
import json

from config.stack import Stack
from workloads.pods import MANAGED_BY, Manifest

_CLAIM = "training-data"


def claim_name(stack: Stack) -> str:
    """The claim that pods mount: the user's own, or the one that this stack makes.

    That one is named by where the data is, since neither a claim nor a volume can be given another
    source: another one is another claim, and the old one goes when no pod mounts it any more.
    """
    return stack.storage.claim or f"{_CLAIM}-{_source_digest(stack)}"


def volume_name(stack: Stack) -> str:
    """PersistentVolumes have no namespace, so the name holds it."""
    return f"{stack.kubernetes.namespace}-{claim_name(stack)}"


def _source_digest(stack: Stack) -> str:
    storage = stack.storage
    if storage.storage_class is not None:
        # A claim of a StorageClass can grow.
        source: list[object] = ["storageClass", storage.storage_class]
    elif storage.nfs is not None:
        nfs = storage.nfs
        source = ["nfs", nfs.server, nfs.path, list(nfs.options), str(storage.size)]
    else:
        source = ["hostPath", storage.host_path, str(storage.size)]
    return hashlib.sha256(json.dumps(source).encode()).hexdigest()[:8]


def persistent_volume_spec(stack: Stack) -> Manifest | None:
    """The PersistentVolume of an NFS export or a node's folder; None where a StorageClass makes it
    or the claim is there already.

    Its data is kept whatever becomes of the volume.
    """
    storage = stack.storage
    if storage.nfs is not None:
        source = {"nfs": {"server": storage.nfs.server, "path": storage.nfs.path}}
    elif storage.host_path is not None:
        source = {"hostPath": {"path": storage.host_path, "type": "DirectoryOrCreate"}}
    else:
        return None
    spec: Manifest = {
        "capacity": {"storage": str(storage.size)},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        # None, and not the cluster's default StorageClass.
        "storageClassName": "",
        # Bound to this claim and to no other, and again after the claim was made anew.
        "claimRef": {"namespace": stack.kubernetes.namespace, "name": claim_name(stack)},
        **source,
    }
    if storage.nfs is not None and storage.nfs.options:
        spec["mountOptions"] = list(storage.nfs.options)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume_name(stack), "labels": MANAGED_BY},
        "spec": spec,
    }


def claim_spec(stack: Stack) -> Manifest | None:
    """The ReadWriteMany claim; None where the user has one."""
    storage = stack.storage
    if storage.claim is not None:
        return None
    spec: Manifest = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": str(storage.size)}},
        "storageClassName": storage.storage_class or "",
    }
    if storage.storage_class is None:
        spec["volumeName"] = volume_name(stack)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": claim_name(stack),
            "namespace": stack.kubernetes.namespace,
            "labels": MANAGED_BY,
        },
        "spec": spec,
    }
