"""What a replica's pod mounts."""

from __future__ import annotations

from typing import Any

from config.jobs import Job
from config.quantities import Memory
from config.replicas import Replicas
from config.stack import Stack
from config.volumes import Volume
from training.code_config_map import (
    CODE_PATH,
    RUNTIME_CONFIG_MAP,
    RUNTIME_KEY,
    RUNTIME_PATH,
    code_keys,
)
from workloads.pods import Manifest, scratch_volume, shared_mount, shared_volume
from workloads.shared_storage_spec import claim_name

_DEFAULT_SHM = Memory(2 * 1024**3)


class Code:
    """What of a job's code the pods mount: the ConfigMap's name and its keys, by path."""

    def __init__(self, name: str, paths: dict[str, Any]) -> None:
        self.name = name
        self.keys = code_keys(paths)


def shm_size(replicas: Replicas) -> Memory:
    """Size of /dev/shm. Docker's 64 MB are too small for NCCL
    (https://github.com/NVIDIA/nccl/issues/525); it counts as memory of the replica."""
    most = replicas.memory_limit or replicas.memory
    if replicas.shm is not None:
        return replicas.shm
    return Memory(min(_DEFAULT_SHM.size_bytes, most.size_bytes // 2)) if most else _DEFAULT_SHM


def pod_mounts(job: Job, code: Code | None) -> list[Manifest]:
    """The mounts of the container: its own part of the shared storage, and nothing of others'."""
    mounts: list[Manifest] = [
        shared_mount(job.directory, read_only=False),
        shared_mount("datasets", read_only=True),
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "tmp", "mountPath": "/tmp"},
    ]
    if code is not None:
        mounts += [
            {"name": "code", "mountPath": CODE_PATH, "readOnly": True},
            {
                "name": "runtime",
                "mountPath": RUNTIME_PATH,
                "subPath": RUNTIME_KEY,
                "readOnly": True,
            },
        ]
    for name, volume in job.volumes.items():
        mount: Manifest = {"name": name, "mountPath": volume.mount_path}
        mounts.append({**mount, "readOnly": True} if _read_only(volume) else mount)
    return mounts


def pod_volumes(stack: Stack, job: Job, replicas: Replicas, code: Code | None) -> list[Manifest]:
    """The volumes of the pod."""
    shm: Manifest = {"medium": "Memory", "sizeLimit": str(shm_size(replicas))}
    volumes: list[Manifest] = [
        shared_volume(claim_name(stack)),
        {"name": "shm", "emptyDir": shm},
        scratch_volume(),
    ]
    if code is not None:
        items = [{"key": key, "path": path} for key, path in code.keys.items()]
        volumes += [
            {"name": "code", "configMap": {"name": code.name, "items": items}},
            {"name": "runtime", "configMap": {"name": RUNTIME_CONFIG_MAP}},
        ]
    return volumes + [_volume(name, volume) for name, volume in job.volumes.items()]


def _volume(name: str, volume: Volume) -> Manifest:
    if volume.claim is not None:
        return {"name": name, "persistentVolumeClaim": {"claimName": volume.claim}}
    if volume.secret is not None:
        return {"name": name, "secret": {"secretName": volume.secret}}
    return {"name": name, "configMap": {"name": volume.config_map}}


def _read_only(volume: Volume) -> bool:
    return volume.read_only or volume.claim is None
