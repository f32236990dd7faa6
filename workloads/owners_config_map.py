"""What a stack was called before it was renamed, as the program of the shared volume is told it.

A ConfigMap, and no argument: nobody knows it before the cluster was asked, and a Job is named by
all that its pod is.
"""

from __future__ import annotations

from typing import Any

from workloads.pods import MANAGED_BY, Manifest

OWNERS_PATH = "/owners"
FORMERLY = "formerly"
"""The file in OWNERS_PATH: a JSON list of names, the first one first."""

_NAME = "ack-training-owners"
_VOLUME = "owners"


def owners_config_map(namespace: str, formerly: Any) -> Manifest:
    """`formerly`: the JSON, or an output of it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _NAME, "namespace": namespace, "labels": MANAGED_BY},
        "data": {FORMERLY: formerly},
    }


def owners_volume() -> Manifest:
    """The pod volume; a pod that is started without the ConfigMap knows no earlier names."""
    return {"name": _VOLUME, "configMap": {"name": _NAME, "optional": True}}


def owners_mount() -> Manifest:
    return {"name": _VOLUME, "mountPath": OWNERS_PATH, "readOnly": True}
