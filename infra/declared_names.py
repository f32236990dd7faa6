"""Under which names a stack declares objects, by the list of the API that has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_PLURALS = {
    # Of what is taken, these tell a user most: they are asked for first.
    "Namespace": "namespaces",
    "TFJob": "tfjobs",
    "Deployment": "deployments",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ConfigMap": "configmaps",
    "Job": "jobs",
    "NetworkPolicy": "networkpolicies",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "Secret": "secrets",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
_ORDER = [*_PLURALS]

_SHARED = ("Namespace",)
"""There for everyone: one without an owner is taken over, and kept."""

_ANYONES = ("CustomResourceDefinition",)
"""Taken over whoever made it, and kept then: it outlives stacks whose TFJobs others have. That no
two operators answer for it is seen by the operator's ClusterRole."""


@dataclass(frozen=True)
class Declared:
    """A manifest, what to do where its name is another's, and whether it outlives its stack."""

    manifest: Mapping[str, Any]
    hint: str
    outlives: bool


def declared_names(objects: Iterable[Declared]) -> list[dict[str, Any]]:
    """As `cluster.ownership.foreign` takes it. What Pulumi names itself is never another's."""
    groups: dict[tuple[int, str, str, bool], list[str]] = {}
    for each in objects:
        name, kind = each.manifest["metadata"].get("name"), str(each.manifest["kind"])
        if name is None or kind in _ANYONES:
            continue
        key = (_ORDER.index(kind), _path(each.manifest), each.hint, each.outlives)
        groups.setdefault(key, []).append(str(name))
    return [
        {
            "path": path,
            "names": sorted(names),
            "kind": _ORDER[kind],
            "hint": hint,
            **({"shared": True} if _ORDER[kind] in _SHARED else {}),
            **({"outlives": True} if outlives else {}),
        }
        for (kind, path, hint, outlives), names in sorted(groups.items())
    ]


def _path(manifest: Mapping[str, Any]) -> str:
    version = str(manifest["apiVersion"])
    api = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = manifest["metadata"].get("namespace")
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{api}{inside}/{_PLURALS[str(manifest['kind'])]}"
