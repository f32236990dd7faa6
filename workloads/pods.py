"""What every pod of a stack has in common: who it runs as, what it may do, where it is mounted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from config.stack import Stack

Manifest = dict[str, Any]

SHARED_VOLUME = "shared"
SHARED_PATH = "/training"
"""Where pods see the shared storage; each sees only its part of it."""

MANAGED_BY = {"app.kubernetes.io/managed-by": "ack-training"}


def pod_settings(stack: Stack, pull_secrets: Sequence[str] = ()) -> Manifest:
    """The part of a pod's spec that passes Pod Security "restricted" and reaches no API server.

    https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    """
    cluster = stack.kubernetes
    settings: Manifest = {
        "automountServiceAccountToken": False,
        # One variable for each Service of the namespace is of no use here, and there are hundreds.
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": cluster.run_as_user,
            "runAsGroup": cluster.run_as_group,
            # Where the storage's driver heeds it; without a look at every file of a large volume.
            "fsGroup": cluster.run_as_group,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    secrets = list(dict.fromkeys([*stack.image_pull_secrets, *pull_secrets]))
    if secrets:
        settings["imagePullSecrets"] = [{"name": name} for name in secrets]
    return settings


def container_security(*, writes_root: bool) -> Manifest:
    """No rights at all. `writes_root`: whether the image may write into its own files, which only
    an image that is not this project's own may have to."""
    return {
        "allowPrivilegeEscalation": False,
        "privileged": False,
        "readOnlyRootFilesystem": not writes_root,
        "capabilities": {"drop": ["ALL"]},
    }


def shared_volume(claim: str) -> Manifest:
    """The pod volume of the shared storage."""
    return {"name": SHARED_VOLUME, "persistentVolumeClaim": {"claimName": claim}}


def shared_mount(folder: str, *, read_only: bool) -> Manifest:
    """The mount of one folder of the shared storage, at its own path below SHARED_PATH. The folder
    has to exist: what the kubelet makes belongs to root."""
    mount: Manifest = {
        "name": SHARED_VOLUME,
        "mountPath": f"{SHARED_PATH}/{folder}",
        "subPath": folder,
    }
    return {**mount, "readOnly": True} if read_only else mount


def scratch_volume(name: str = "tmp") -> Manifest:
    """A volume that lives as long as the pod, for what programs write to /tmp."""
    return {"name": name, "emptyDir": {}}
