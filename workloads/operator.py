"""The training operator in the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi

from config.stack import Stack
from infra.cluster import Cluster
from toolchain.operator_manifests import operator_manifests as pinned_manifests
from toolchain.report import Stop
from workloads.images import rewritten
from workloads.operator_files import OperatorManifestsError
from workloads.operator_manifests import operator_manifests
from workloads.pods import Manifest

_KEPT = ("CustomResourceDefinition",)
"""Deleting the definition would delete every TFJob of the cluster, also those of others."""

_DRIFT = {
    # The operator makes its webhook's certificate itself and writes it here.
    "Secret": ["data"],
    "ValidatingWebhookConfiguration": ["webhooks[*].clientConfig.caBundle"],
}


def manifests_of(stack: Stack, project: Path) -> list[Manifest]:
    """Upstream's manifests, from the pinned release or the folder that the config names.

    Raises Stop where they are not there, or not what is expected.
    """
    settings = stack.operator
    if settings.manifests is None:
        folder = pinned_manifests(pulumi.get_stack())
    else:
        folder = project / settings.manifests

    def image(released: str) -> str:
        return rewritten(settings.image or released, stack.image_registry)

    try:
        found = operator_manifests(
            folder,
            namespace=settings.namespace,
            image=image,
            gang_scheduler=settings.gang_scheduler,
        )
    except OperatorManifestsError as error:
        key = "ack-training:operator.manifests: " if settings.manifests else ""
        raise Stop(f"{key}{error}") from error
    for manifest in found:
        if manifest["kind"] == "Deployment" and stack.image_pull_secrets:
            pod = manifest["spec"]["template"]["spec"]
            pod["imagePullSecrets"] = [{"name": name} for name in stack.image_pull_secrets]
    return found


class TrainingOperator(pulumi.ComponentResource):
    """Kubeflow's training operator, ready to take TFJobs afterwards.

    Its CustomResourceDefinition is declared first, and outlives the stack as long as there is a
    TFJob in the cluster.
    """

    def __init__(
        self, manifests: list[Manifest], cluster: Cluster, namespace: pulumi.Resource
    ) -> None:
        super().__init__(
            "ackTraining:workloads:TrainingOperator",
            "training-operator",
            None,
            pulumi.ResourceOptions(parent=cluster),
        )
        needed: list[pulumi.Resource] = [namespace]
        for manifest in manifests:
            kind = str(manifest["kind"])
            options: dict[str, Any] = {"retain_on_delete": kind in _KEPT}
            if kind in _DRIFT:
                options["ignore_changes"] = _DRIFT[kind]
            # The Deployment is the last, and is ready when all that it needs is there.
            after = needed if kind == "Deployment" else [namespace]
            declared = cluster.declare(
                f"{kind}-{manifest['metadata']['name']}",
                _forced(manifest) if kind in _KEPT else manifest,
                parent=self,
                depends_on=after,
                hint="set ack-training:operator.install to false",
                **options,
            )
            # Pulumi waits for a Service until it has pods, which the Deployment brings.
            if kind != "Service":
                needed.append(declared)
        self.register_outputs({})


def _forced(manifest: Manifest) -> Manifest:
    """`manifest`, applied also over what someone else had applied: a definition of another version
    that is there already would be a conflict, and this operator needs its own."""
    metadata = dict(manifest["metadata"])
    metadata["annotations"] = {**metadata.get("annotations", {}), "pulumi.com/patchForce": "true"}
    return {**manifest, "metadata": metadata}
