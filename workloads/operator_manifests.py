"""Upstream's training operator for TFJobs alone, as manifests.

Upstream's files are read as they are and changed as data: what they lack is an error that names the
file, so that files of another version do not pass for what they are not.
"""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from workloads.operator_files import (
    Document,
    OperatorManifestsError,
    patched_webhooks,
    read,
    released_image,
)
from workloads.operator_rights import Rule, cluster_rules, namespace_rules, not_granted

Manifest = dict[str, Any]

_NAME = "training-operator"
_LABELS = {"app": _NAME}
_WEBHOOK = "validator.tfjob.training-operator.kubeflow.org"
_RBAC = "rbac.authorization.k8s.io"

# Distroless images' user `nonroot`; upstream's image itself names none, so it would be root.
_USER = 65532
_POD_SECURITY = {
    "runAsNonRoot": True,
    "runAsUser": _USER,
    "runAsGroup": _USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_CONTAINER_SECURITY = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
# It answers 4 s after its start. Upstream asks first after 10 s and then every 15 s: the first
# `pulumi up` would wait for that.
_READINESS = {"initialDelaySeconds": 2, "periodSeconds": 2}
# It keeps every pod and service of the cluster in memory: allow for 10,000 of them.
_RESOURCES = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}


def operator_manifests(
    folder: Path,
    *,
    namespace: str,
    image: Callable[[str], str],
    gang_scheduler: str | None,
) -> list[Manifest]:
    """All manifests of the operator but its namespace, from upstream's folder `manifests`.

    They are in an order in which they can be applied. The Deployment is the last, for it gets ready
    only where all others are. `image` is given upstream's image and returns the one to run.
    `gang_scheduler` is `volcano` or the name of a scheduler with the scheduler-plugins' PodGroups.

    The operator itself writes the Secret's data and the webhook's `caBundle`.

    Raises OperatorManifestsError.
    """
    definition = read(
        folder, "base/crds/kubeflow.org_tfjobs.yaml", "CustomResourceDefinition"
    ).content
    account = read(folder, "base/rbac/service-account.yaml", "ServiceAccount").content
    service = read(folder, "base/service.yaml", "Service").content
    deployment = _deployment(folder, image, gang_scheduler)
    secret = _certificate_secret(deployment)
    webhooks = _tfjob_webhook(folder, namespace)
    manifests = [
        definition,
        account,
        *_cluster_rights(folder, namespace, webhooks["metadata"]["name"], gang_scheduler),
        *_namespace_rights(folder, namespace, secret["metadata"]["name"]),
        service,
        secret,
        webhooks,
        deployment.content,
    ]
    for manifest in manifests:
        if manifest["kind"] in _NAMESPACED:
            manifest["metadata"]["namespace"] = namespace
    return manifests


_NAMESPACED = ("ServiceAccount", "Role", "RoleBinding", "Service", "Secret", "Deployment")


def _deployment(folder: Path, image: Callable[[str], str], gang_scheduler: str | None) -> Document:
    deployment = read(folder, "base/deployment.yaml", "Deployment")
    pod = ("spec", "template", "spec")
    container = deployment.named(_NAME, *pod, "containers")
    if "args" in container:
        raise OperatorManifestsError(f"{deployment.file}: has args, which would be lost")
    for needed in ("image", "livenessProbe", "readinessProbe"):
        if needed not in container:
            raise OperatorManifestsError(f"{deployment.file}: has no {needed}")
    gang = [f"--gang-scheduler-name={gang_scheduler}"] if gang_scheduler else []
    container |= {
        "image": image(released_image(folder, container["image"])),
        "args": ["--enable-scheme=tfjob", *gang],
        "securityContext": deepcopy(_CONTAINER_SECURITY),
        "resources": deepcopy(_RESOURCES),
        "readinessProbe": {**container["readinessProbe"], **_READINESS},
    }
    deployment.at(*pod)["securityContext"] = deepcopy(_POD_SECURITY)
    return deployment


def _certificate_secret(deployment: Document) -> Manifest:
    """Empty: the operator makes its webhook's certificate, and asks that there is a Secret for
    it."""
    volume = Document(
        deployment.file, deployment.named("cert", "spec", "template", "spec", "volumes")
    )
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": volume.at("secret", "secretName"), "labels": dict(_LABELS)},
        "type": "Opaque",
    }


def _tfjob_webhook(folder: Path, namespace: str) -> Manifest:
    webhooks = patched_webhooks(folder)
    webhook = Document(webhooks.file, webhooks.named(_WEBHOOK, "webhooks"))
    webhook.at("clientConfig", "service", "name")
    webhook.at("clientConfig", "service")["namespace"] = namespace
    webhooks.content["webhooks"] = [webhook.content]
    webhooks.at("metadata")["labels"] = dict(_LABELS)
    return webhooks.content


def _cluster_rights(
    folder: Path, namespace: str, webhooks: str, gang_scheduler: str | None
) -> list[Manifest]:
    rules = cluster_rules(webhooks, gang_scheduler)
    role = _upstream_role(folder, rules)
    role["rules"] = rules
    binding = read(folder, "base/rbac/cluster-role-binding.yaml", "ClusterRoleBinding")
    binding.named(_NAME, "subjects")["namespace"] = namespace
    return [role, binding.content]


def _namespace_rights(folder: Path, namespace: str, secret: str) -> list[Manifest]:
    rules = namespace_rules(secret)
    _upstream_role(folder, rules)
    metadata = {"name": _NAME, "labels": _LABELS}
    return [
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "Role",
            "metadata": deepcopy(metadata),
            "rules": rules,
        },
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": deepcopy(metadata),
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _NAME},
            "subjects": [{"kind": "ServiceAccount", "name": _NAME, "namespace": namespace}],
        },
    ]


def _upstream_role(folder: Path, wanted: list[Rule]) -> Manifest:
    """Upstream's role, which gives all of `wanted`: what it does not, its operator does not do."""
    role = read(folder, "base/rbac/role.yaml", "ClusterRole")
    missing = not_granted(wanted, role.mappings("rules"))
    if missing:
        raise OperatorManifestsError(f"{role.file}: does not allow to {', '.join(missing)}")
    return role.content
