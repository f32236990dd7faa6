"""Declares manifests as resources of Pulumi's Kubernetes provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pulumi

STACK_LABEL = "ack-training/stack"
"""On every object: the stack that made it, so that another one does not take it over."""


class KubernetesObject(pulumi.CustomResource):
    """The object of `manifest`, with the stack's label. Outputs: `metadata`, as the cluster has it.

    Of the provider's own types, `kubernetes:apps/v1:Deployment` and so on, without the SDK's class
    for each: to import those takes longer than the rest of a preview's program.
    """

    metadata: pulumi.Output[dict[str, Any]]

    def __init__(
        self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions
    ) -> None:
        metadata = dict(manifest["metadata"])
        metadata["labels"] = {**metadata.get("labels", {}), STACK_LABEL: stack_label()}
        # One name in the cluster: the old object has to be gone before the new one comes, as
        # otherwise the new one would be deleted in its place.
        # https://github.com/pulumi/pulumi-kubernetes/issues/4522
        fixed = pulumi.ResourceOptions(delete_before_replace=True)
        super().__init__(
            _type_token(manifest),
            name,
            {**manifest, "metadata": metadata},
            pulumi.ResourceOptions.merge(fixed, opts),
        )

    @property
    def object_name(self) -> pulumi.Output[str]:
        """Its name in the cluster."""
        return self.metadata.apply(lambda metadata: str(metadata["name"]))


def stack_label() -> str:
    """`organization.project.stack`, as a label may hold it: https://kubernetes.io/docs/concepts/
    overview/working-with-objects/labels/#syntax-and-character-set"""
    words = (pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack())
    text = ".".join(words)
    safe = re.sub("[^-_.A-Za-z0-9]", "-", text)
    return safe[-63:].strip("-_.")


def _type_token(manifest: Mapping[str, Any]) -> str:
    version = str(manifest["apiVersion"])
    group = version if "/" in version else f"core/{version}"
    return f"kubernetes:{group}:{manifest['kind']}"
