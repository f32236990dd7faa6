"""A whole stack on an existing cluster, in the order of its layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi

from config.stack import Stack
from infra.cluster import Cluster, DestroyGuard, Expectations, Namespace
from infra.kubernetes_object import KubernetesObject
from training.cluster_job import TrainingJob
from training.code_config_map import runtime_config_map
from workloads.cluster import SharedStorage, TensorBoard
from workloads.namespace_labels import jobs_namespace_labels, operator_namespace_labels
from workloads.operator import TrainingOperator, manifests_of

_DEFINITION = "tfjobs.kubeflow.org"


class ClusterStack:
    """Afterwards the operator, the shared storage, TensorBoard and the jobs are declared."""

    def __init__(self, stack: Stack, project: Path) -> None:
        self._namespace = stack.kubernetes.namespace
        # Before anything is declared: upstream's files may be unfit.
        manifests = manifests_of(stack, project) if stack.operator.install else []
        cluster = Cluster(stack, project, expects=_expectations(stack))
        namespace = Namespace(self._namespace, jobs_namespace_labels(stack), cluster)
        after: list[pulumi.Resource] = []
        if manifests:
            operators = Namespace(stack.operator.namespace, operator_namespace_labels(), cluster)
            after.append(TrainingOperator(manifests, cluster, operators))
        storage = SharedStorage(stack, cluster, namespace)
        runtime = KubernetesObject(
            "runtime",
            runtime_config_map(self._namespace),
            cluster.options(parent=cluster, depends_on=[namespace]),
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


def _expectations(stack: Stack) -> Expectations:
    namespace, operator = stack.kubernetes.namespace, stack.operator
    jobs = {
        "path": f"/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs",
        "names": sorted(stack.jobs),
        "kind": "TFJob",
        "hint": "rename the job, or delete that one",
    }
    own = {
        "path": "/api/v1/namespaces",
        "names": [namespace],
        "kind": "Namespace",
        "hint": "set another ack-training:kubernetes.namespace",
        "shared": True,
    }
    if not operator.install:
        definition = {
            "crd": _DEFINITION,
            "hint": "install the training operator, or set ack-training:operator.install to true",
        }
        answers = {
            "operator": operator.namespace,
            "hint": "see `kubectl get pods` there, or name its ack-training:operator.namespace",
        }
        return Expectations(
            requires=[definition, answers] if stack.jobs else [],
            declares=[own, jobs],
            namespaces=[namespace],
        )
    installed = {
        "path": f"/apis/apps/v1/namespaces/{operator.namespace}/deployments",
        "names": ["training-operator"],
        "kind": "Deployment",
        "hint": "set ack-training:operator.install to false",
    }
    return Expectations(
        declares=[own, installed, jobs],
        namespaces=[namespace, operator.namespace],
        definitions=[_DEFINITION],
    )
