"""An existing cluster as the place where the stack runs."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
from pulumi_kubernetes import Provider as KubernetesProvider

from config.kubeconfig import find_cluster
from config.stack import Stack
from infra.declared_names import Declared, declared_names
from infra.kubernetes_object import STACK_LABEL, KubernetesObject, stack_label

_NAMESPACES = "/api/v1/namespaces"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_MAKE_ROOM = "set another ack-training:kubernetes.namespace, or delete that one"


@dataclass(frozen=True)
class Expectations:
    """What a stack expects of a cluster.

    `requires`: what it does not bring itself. `namespaces` and `definitions`: what it brings and
    others may use.
    """

    requires: Sequence[dict[str, Any]] = ()
    namespaces: Sequence[str] = ()
    definitions: Sequence[str] = ()


class Connection(pulumi.CustomResource):
    """Exists while the cluster can be reached, lets this user do what the stack needs, has what the
    stack does not bring, and nothing of others under the stack's names. A preview says in one
    sentence what is amiss.

    Outputs: `formerly`, known to every preview: what the stack was called before it was renamed;
    `identity`, known likewise: what tells the cluster from every other one; `link`: what it knows
    of it."""

    formerly: pulumi.Output[list[str]]
    identity: pulumi.Output[str]
    link: pulumi.Output[dict[str, Any]]

    def __init__(
        self,
        connection: dict[str, Any],
        *,
        namespace: str,
        expects: Expectations,
        declares: Awaitable[list[dict[str, Any]]],
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
                "declares": declares,
                "formerly": None,
                "identity": None,
            },
            opts,
        )


class SharedObject(pulumi.CustomResource):
    """Stands for the namespace or definition at `path`, from before it is made until all that the
    stack has in it is gone. Deleted then, it removes it if the stack made it and left it empty."""

    def __init__(self, path: str, connection: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(
            "acktraining:cluster:SharedObject",
            path.rpartition("/")[2],
            {"connection": connection, "path": path, "owner": stack_label()},
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

    Afterwards `provider` and `connection` stand for it; every object of the stack is declared with
    them, by `declare`.
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
        self._declared: list[Declared] | None = []
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
            declares=self._all_declared(),
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
            # Another file, context, URL or certificate of the same cluster replaces nothing.
            cluster_identifier=self.connection.identity,
            enable_server_side_apply=True,
            # CRDs, namespaces and volumes that are there already are taken as they are.
            upsert_existing_objects=True,
            # Those whose content must not change under a pod are named by it.
            enable_config_map_mutable=True,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self.connection]),
        )
        # Namespaces go first: what one holds cannot be told while a definition goes.
        definitions = self._shared(_DEFINITIONS, expects.definitions, [self.connection])
        before: list[pulumi.Resource] = [self.connection, *definitions]
        self._stands_on = [*before, *self._shared(_NAMESPACES, expects.namespaces, before)]
        self.register_outputs({})

    def declare(
        self,
        name: str,
        manifest: Mapping[str, Any],
        *,
        parent: pulumi.Resource,
        depends_on: Sequence[pulumi.Resource] = (),
        hint: str = _MAKE_ROOM,
        **more: Any,
    ) -> KubernetesObject:
        """The object of `manifest` in this cluster. `hint` tells what to do where another has one
        of that name; `more` are resource options."""
        if self._declared is None:
            raise AssertionError(f"{name} is declared after its name was looked for")
        outlives = bool(more.get("retain_on_delete"))
        self._declared.append(Declared(manifest, hint, outlives))
        after = [*self._stands_on, *depends_on]
        options = pulumi.ResourceOptions(
            parent=parent, provider=self.provider, depends_on=after, **more
        )
        return KubernetesObject(name, manifest, options)

    def declare_namespace(self, name: str, labels: dict[str, str], hint: str) -> KubernetesObject:
        """A namespace, made when it is absent. Who ends it leaves it to its `SharedObject`, which
        removes it when nothing is left in it: others may have put things there."""
        return self.declare(
            name,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}},
            parent=self,
            hint=f"{hint}; if that stack is gone, take the label {STACK_LABEL} from it",
            retain_on_delete=True,
        )

    def _shared(
        self, path: str, names: Sequence[str], after: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        options = pulumi.ResourceOptions(parent=self, depends_on=after)
        return [SharedObject(f"{path}/{name}", self.connection_settings, options) for name in names]

    async def _all_declared(self) -> list[dict[str, Any]]:
        # The SDK asks for inputs only when the program has declared everything: nothing that it
        # declares can be left out, and Connection is registered before all else nevertheless.
        declared, self._declared = self._declared or [], None
        return declared_names(declared)


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
