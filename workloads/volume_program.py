"""How a container runs workloads.volume, the program that looks after the shared volume."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from config.stack import Stack
from workloads.images import default_image
from workloads.pods import SHARED_PATH, Manifest, container_security
from workloads.script_config_map import SCRIPTS_PATH, Scripts, script_mount
from workloads.shared_storage_spec import claim_name

_PACKAGE = Path(__file__).parent
_MESSAGE_FILE = "/dev/termination-log"
"""What stands there when a container ends is in the pod's status, and Pulumi shows it."""


def volume_scripts() -> Scripts:
    """The program's files, which need nothing but Python, and NumPy for the sample."""
    sources = [
        _PACKAGE / "__init__.py",
        *(_PACKAGE / "volume").glob("*.py"),
        *(_PACKAGE / "datasets").glob("*.py"),
    ]
    root = _PACKAGE.parent
    return Scripts(
        "volume-scripts",
        {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sources},
    )


def program_container(
    stack: Stack, name: str, arguments: Sequence[str], memory: str, mounts: Sequence[Manifest]
) -> Manifest:
    """A container of the project's own image that runs the program with `arguments`, and may take
    so much memory. What it has to say when it ends is its termination message."""
    return {
        "name": name,
        "image": default_image(0, stack.image_registry),
        "command": ["python", "-m", "workloads.volume", *arguments],
        "env": [
            {"name": "PYTHONPATH", "value": SCRIPTS_PATH},
            {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
            {"name": "HOME", "value": "/tmp"},
            {"name": "MESSAGE_FILE", "value": _MESSAGE_FILE},
        ],
        "resources": container_resources(memory),
        "securityContext": container_security(writes_root=False),
        "terminationMessagePath": _MESSAGE_FILE,
        # For an end that the program could not speak of.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [script_mount(), *mounts],
    }


def container_resources(memory: str) -> Manifest:
    """Little is asked for, as it is used for moments; a namespace with a quota demands limits."""
    return {
        "requests": {"cpu": "100m", "memory": "64Mi"},
        "limits": {"cpu": "1", "memory": memory},
    }


def place_arguments(stack: Stack, owner: str) -> list[str]:
    """What tells the program where the volume is, to it and to the user, and whose it works for."""
    storage = stack.storage
    if storage.host_path is not None:
        path, where = storage.host_path, "the node"
    elif storage.nfs is not None:
        path, where = storage.nfs.path, f"the NFS server {storage.nfs.server}"
    else:
        path, where = "/", f"the volume of claim {claim_name(stack)}"
    return [f"--root={SHARED_PATH}", f"--path={path}", f"--where={where}", f"--owner={owner}"]
