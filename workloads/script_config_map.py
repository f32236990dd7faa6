"""Python files that pods run but their image does not hold: a ConfigMap, named by its content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from workloads.pods import MANAGED_BY, Manifest

SCRIPTS_PATH = "/scripts"
"""Where pods see the files; it is on their PYTHONPATH."""

_VOLUME = "scripts"


@dataclass(frozen=True)
class Scripts:
    """Files by their path below SCRIPTS_PATH, each readable in a diff under a key of its own."""

    prefix: str
    files: Mapping[str, str]

    @property
    def config_map_name(self) -> str:
        """Another content is another ConfigMap, so that what runs keeps its own."""
        digest = hashlib.sha256()
        for path, text in sorted(self.files.items()):
            content = text.encode()
            # With its length, so that no other set of files is the same to the sum.
            digest.update(f"{path}\0{len(content)}\0".encode())
            digest.update(content)
        return f"{self.prefix}-{digest.hexdigest()[:10]}"

    def config_map_spec(self, namespace: str) -> Manifest:
        """The ConfigMap; what it holds never changes."""
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self.config_map_name,
                "namespace": namespace,
                "labels": MANAGED_BY,
            },
            "immutable": True,
            "data": {_key(path): text for path, text in sorted(self.files.items())},
        }

    def volume(self) -> Manifest:
        """The pod volume that lays the files out in their folders, which keys cannot name."""
        return {
            "name": _VOLUME,
            "configMap": {
                "name": self.config_map_name,
                "items": [{"key": _key(path), "path": path} for path in sorted(self.files)],
            },
        }


def script_mount() -> Manifest:
    """The mount of the files."""
    return {"name": _VOLUME, "mountPath": SCRIPTS_PATH, "readOnly": True}


def _key(path: str) -> str:
    return path.replace("/", ".")
