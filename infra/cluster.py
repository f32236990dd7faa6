"""An existing cluster as the place where the stack runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
from pulumi_kubernetes import Provider as KubernetesProvider

from config.kubeconfig import find_cluster
from config.stack import Stack
from infra.kubernetes_object import KubernetesObject, stack_label


@dataclass(frozen=True)
class Expectations:
    """What a stack expects of a cluster.

    `requires`: what it does not bring itself. `declares`: what it brings under names that another
    stack may have taken. `namespaces` and `definitions`: what it brings and others may use.
    """

    requires: Sequence[dict[str, Any]] = ()
    declares: Sequence[dict[str, Any]] = ()
    namespaces: Sequence[str] = ()
    definitions: Sequence[str] = ()


class Connection(pulumi.CustomResource):
    """Exists while the cluster can be reached, lets this user do what the stack needs, has what the
    stack does not bring, and nothing of others under the stack's names. A preview says in one
    sentence what is amiss. Deleted last, it removes the namespaces that the stack made and left
    empty. `link` is what it knows of the cluster."""

    link: pulumi.Output[dict[str, Any]]

    def __init__(
        self,
        connection: dict[str, Any],
        *,
        namespace: str,
        expects: Expectations,
        wants: dict[str, Any],
        opts: pulumi.ResourceOptions,
    ) -> None:
        super().__init__(
            "acktraining:cluster:Connection",
            "connection",
            {
                "connection": connection,
                "namespace": namespace,
                "owner": stack_label(),
                "wants": wants,
                "link": None,
                "requires": list(expects.requires),
                "declares": list(expects.declares),
                "shares": {
                    "namespaces": list(expects.namespaces),
                    "definitions": list(expects.definitions),
                },
            },
            opts,
        )


class ClusterPin(pulumi.ProviderResource):
    """Our provider once more, which refuses to be configured while the settings lead to another
    cluster than they did, or to none. The engine configures every provider before a refresh or a
    destroy looks at any resource, so that none is taken for gone on a cluster that never had it."""

    def __init__(
        self, settings: dict[str, Any], connection: Connection, opts: pulumi.ResourceOptions
    ) -> None:
        inputs = {"connection": settings, "link": connection.link}
        super().__init__("acktraining", "cluster-pin", inputs, opts)


class Cluster(pulumi.ComponentResource):
    """The cluster that the config names, and nothing of the shell's.

    Afterwards `provider` and `connection` stand for it; everything else of the stack is declared
    with them, by `options`.
    """

    def __init__(
        self,
        stack: Stack,
        project: Path,
        *,
        expects: Expectations,
        wants: dict[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("ackTraining:infra:Cluster", "cluster", None, opts)
        found = find_cluster(stack.kubernetes, project, os.environ)
        # As the stack's file says it, for each machine to find: all of it lies in the state, which
        # a refresh and a destroy go by, of whoever runs them.
        self.connection_settings: dict[str, Any] = {"context": found.context}
        if found.file is not None:
            self.connection_settings["kubeconfig"] = found.file
        self.connection = Connection(
            self.connection_settings,
            namespace=stack.kubernetes.namespace,
            expects=expects,
            wants=wants,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.pin = ClusterPin(
            self.connection_settings, self.connection, pulumi.ResourceOptions(parent=self)
        )
        self.provider = KubernetesProvider(
            "kubernetes",
            # Empty and not left out: the SDK would write down this shell's KUBECONFIG.
            kubeconfig=found.file or "",
            context=found.context,
            # Another file, context name or certificate of the same cluster replaces nothing.
            cluster_identifier=found.server,
            enable_server_side_apply=True,
            # CRDs, namespaces and volumes that are there already are taken as they are.
            upsert_existing_objects=True,
            # Those whose content must not change under a pod are named by it.
            enable_config_map_mutable=True,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self.connection]),
        )
        self.register_outputs({})

    def options(
        self, *, parent: pulumi.Resource, depends_on: Sequence[pulumi.Resource] = (), **more: Any
    ) -> pulumi.ResourceOptions:
        """Resource options of an object in this cluster."""
        return pulumi.ResourceOptions(
            parent=parent,
            provider=self.provider,
            depends_on=[self.connection, *depends_on],
            **more,
        )


class Namespace(KubernetesObject):
    """A namespace, made when it is absent. A destroy leaves it to `Connection`, which removes it
    when nothing is left in it: others may have put things there."""

    def __init__(self, name: str, labels: dict[str, str], cluster: Cluster) -> None:
        super().__init__(
            name,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}},
            cluster.options(parent=cluster, retain_on_delete=True),
        )


class DestroyGuard(pulumi.CustomResource):
    """Depends on all of the stack, so that a destroy deletes it first, and fails there with one
    sentence when the cluster cannot be reached, before anything is half deleted."""

    def __init__(self, cluster: Cluster, after: Sequence[pulumi.Resource]) -> None:
        super().__init__(
            "acktraining:cluster:DestroyGuard",
            "destroy-guard",
            {"connection": cluster.connection_settings},
            pulumi.ResourceOptions(
                parent=cluster, provider=cluster.pin, depends_on=[cluster.connection, *after]
            ),
        )
