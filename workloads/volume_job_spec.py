"""The Job that prepares the shared volume: each folder that pods mount is there, and theirs."""

from __future__ import annotations

from config.stack import Stack
from workloads.batch_job_spec import batch_job_spec
from workloads.owners_config_map import FORMERLY, OWNERS_PATH, owners_mount, owners_volume
from workloads.pods import SHARED_PATH, SHARED_VOLUME, Manifest, scratch_volume, shared_volume
from workloads.shared_storage_spec import claim_name
from workloads.volume_program import place_arguments, program_container, volume_scripts

_DEADLINE_SECONDS = 600
"""Enough for a node to be started and to pull the image."""
_MEMORY = "256Mi"
_WHOLE_VOLUME = {"name": SHARED_VOLUME, "mountPath": SHARED_PATH}


def volume_job_spec(stack: Stack, owner: str) -> Manifest:
    """The Job after which `datasets` and each job's directory exist, belong to the pods' user, and
    are marked as those of `owner`, organization/project/stack.

    It fails, with a sentence for each, where a directory belongs to another stack or is not
    writable.
    """
    directories = {job.directory: name for name, job in stack.jobs.items()}
    arguments = [
        "prepare",
        *place_arguments(stack, owner),
        f"--formerly={OWNERS_PATH}/{FORMERLY}",
        *(f"--directory={path}={name}" for path, name in sorted(directories.items())),
    ]
    return batch_job_spec(
        stack,
        "volume",
        [_root_container(stack, owner)] if _is_made_by_kubelet(stack) else [],
        program_container(
            stack,
            "prepare",
            arguments,
            _MEMORY,
            [_WHOLE_VOLUME, owners_mount(), _scratch_mount()],
        ),
        [
            volume_scripts().volume(),
            owners_volume(),
            shared_volume(claim_name(stack)),
            scratch_volume(),
        ],
        _DEADLINE_SECONDS,
    )


def _is_made_by_kubelet(stack: Stack) -> bool:
    """Whether the kubelet makes the volume's folder, as root's, and a root may run in a pod."""
    return stack.storage.host_path is not None and stack.kubernetes.pod_security == "baseline"


def _root_container(stack: Stack, owner: str) -> Manifest:
    """The one container of a stack that runs as root. CHOWN is all it may, which Pod Security
    "baseline" allows, and all it does is to give away the volume's root while that is empty.
    https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
    """
    cluster = stack.kubernetes
    arguments = [
        "own",
        *place_arguments(stack, owner),
        f"--user={cluster.run_as_user}",
        f"--group={cluster.run_as_group}",
    ]
    container = program_container(stack, "own", arguments, _MEMORY, [_WHOLE_VOLUME])
    container["securityContext"] |= {
        "runAsNonRoot": False,
        "runAsUser": 0,
        "runAsGroup": 0,
        "capabilities": {"drop": ["ALL"], "add": ["CHOWN"]},
    }
    return container


def _scratch_mount() -> Manifest:
    return {"name": "tmp", "mountPath": "/tmp"}
