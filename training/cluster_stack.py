"""A whole stack on an existing cluster, in the order of its layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi

from config.stack import Stack
from infra.cluster import Cluster, DestroyGuard, Expectations
from training.cluster_job import TrainingJob
from training.cluster_wants import cluster_wants
from training.code_config_map import runtime_config_map
from workloads.cluster import SharedStorage, TensorBoard
from workloads.images import images_abroad
from workloads.namespace_labels import jobs_namespace_labels, operator_namespace_labels
from workloads.operator import TrainingOperator, manifests_of
from workloads.pods import Manifest, container_images

_DEFINITION = "tfjobs.kubeflow.org"


class ClusterStack:
    """Afterwards the operator, the shared storage, TensorBoard and the jobs are declared."""

    def __init__(self, stack: Stack, project: Path) -> None:
        self._namespace = stack.kubernetes.namespace
        # Before anything is declared: upstream's files may be unfit.
        manifests = manifests_of(stack, project) if stack.operator.install else []
        _warn_of_images_abroad(stack, manifests)
        cluster = Cluster(stack, project, expects=_expectations(stack), wants=cluster_wants(stack))
        namespace: list[pulumi.Resource] = []
        if stack.kubernetes.create_namespace:
            other = "set another ack-training:kubernetes.namespace"
            labels = jobs_namespace_labels(stack)
            namespace = [cluster.declare_namespace(self._namespace, labels, other)]
        after: list[pulumi.Resource] = []
        if manifests:
            operators = cluster.declare_namespace(
                stack.operator.namespace,
                operator_namespace_labels(),
                "set another ack-training:operator.namespace",
            )
            after.append(TrainingOperator(manifests, cluster, operators))
        storage = SharedStorage(stack, cluster, namespace)
        runtime = cluster.declare(
            "runtime",
            runtime_config_map(self._namespace),
            parent=cluster,
            depends_on=namespace,
        )
        after += [*storage.ready, runtime]
        shown = stack.tensorboard.enabled
        self._tensorboard = TensorBoard(stack, cluster, storage) if shown else None
        self._jobs = [
            TrainingJob(job, stack=stack, cluster=cluster, after=after, project=project)
            for job in stack.jobs.values()
        ]
        boards = [] if self._tensorboard is None else [self._tensorboard]
        # Not after what the jobs come to: of a first `up` whose job fails there would be no guard.
        DestroyGuard(cluster, [*after, *boards, *(job.tfjob for job in self._jobs)])

    def outputs(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "namespace": self._namespace,
            "jobs": {job.name: job.summary() for job in self._jobs},
        }
        if self._tensorboard is not None:
            found["tensorboard"] = self._tensorboard.url
        return found


def _warn_of_images_abroad(stack: Stack, operator: list[Manifest]) -> None:
    """Nodes in mainland China reach registries abroad slowly or not at all.
    https://github.com/kubeflow/kubeflow/issues/4508"""
    if stack.image_registry or not (stack.region or "").startswith("cn-"):
        return
    images = [
        *container_images(operator),
        *(dataset.image for dataset in stack.datasets.values() if dataset.image),
        *(job.image for job in stack.jobs.values() if job.image),
    ]
    if abroad := images_abroad(images):
        pulumi.log.warn(
            f"ack-training:imageRegistry: is not set, and nodes in {stack.region} may not reach "
            f"the registries of {', '.join(abroad)}: set it, and `make image MIRROR=1` copies "
            "them there"
        )


def _expectations(stack: Stack) -> Expectations:
    operator = stack.operator
    creates = stack.kubernetes.create_namespace
    rights: list[dict[str, Any]] = [_right("create", "", "namespaces")] if creates else []
    mine = [stack.kubernetes.namespace] if creates else []
    if not operator.install:
        definition: dict[str, Any] = {
            "crd": _DEFINITION,
            "hint": "install the training operator, or set ack-training:operator.install to true",
        }
        answers = {
            "operator": operator.namespace,
            "hint": "see `kubectl get pods` there, or name its ack-training:operator.namespace",
        }
        needed = [definition, answers] if stack.jobs else []
        return Expectations(requires=[*rights, *needed], namespaces=mine)
    rights += [
        _right("create", "apiextensions.k8s.io", "customresourcedefinitions"),
        _right("create", "rbac.authorization.k8s.io", "clusterroles"),
    ]
    return Expectations(
        requires=rights, namespaces=[*mine, operator.namespace], definitions=[_DEFINITION]
    )


def _right(verb: str, group: str, resource: str) -> dict[str, str]:
    return {"verb": verb, "group": group, "resource": resource}
