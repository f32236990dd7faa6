"""All that a stack declares on a cluster, as the API server is asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from config.jobs import Job
from config.program import program_files
from config.stack import Stack
from training.code_config_map import code_config_map, runtime_config_map
from training.job_inputs import secret_environment
from training.job_network_policy import job_network_policy
from training.pod_volumes import Code
from training.tfjob_spec import tfjob_spec
from workloads.dataset_job_spec import dataset_job_specs
from workloads.namespace_labels import jobs_namespace_labels, operator_namespace_labels
from workloads.owners_config_map import owners_config_map
from workloads.pods import MANAGED_BY, Manifest
from workloads.shared_storage_spec import claim_spec, persistent_volume_spec
from workloads.tensorboard_spec import tensorboard_specs
from workloads.volume_job_spec import volume_job_spec
from workloads.volume_program import volume_scripts

_OWNER = "organization/ack-training/test"
_STACK = {"ack-training/stack": "organization.ack-training.test"}


def declared(stack: Stack, project: Path) -> list[Manifest]:
    """Every object, and every pod that one of them makes."""
    manifests = [*_objects(stack, project)]
    for manifest in manifests:
        manifest["metadata"]["labels"] = {**manifest["metadata"]["labels"], **_STACK}
    return manifests + [pod for manifest in manifests for pod in pods_of(manifest)]


def _objects(stack: Stack, project: Path) -> Iterator[Manifest]:
    namespace = stack.kubernetes.namespace
    yield _namespace(namespace, jobs_namespace_labels(stack))
    if stack.operator.install:
        yield _namespace(stack.operator.namespace, operator_namespace_labels())
    yield from filter(None, (persistent_volume_spec(stack), claim_spec(stack)))
    yield volume_scripts().config_map_spec(namespace)
    yield owners_config_map(namespace, '["organization.ack-training.former"]')
    yield volume_job_spec(stack, _OWNER)
    yield from dataset_job_specs(stack, _OWNER).values()
    yield runtime_config_map(namespace)
    if stack.tensorboard.enabled:
        yield from tensorboard_specs(stack).values()
    for job in stack.jobs.values():
        yield from _of_job(stack, job, project)


def _of_job(stack: Stack, job: Job, project: Path) -> Iterator[Manifest]:
    namespace = stack.kubernetes.namespace
    code: Code | None = None
    manifest = code_config_map(job, project, namespace)
    if manifest is not None and job.program is not None:
        yield manifest
        code = Code(manifest["metadata"]["name"], program_files(project, job.program))
    secret: str | None = None
    if values := secret_environment(job):
        secret = f"{job.name}-env-01234567"
        yield {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": secret, "namespace": namespace, "labels": MANAGED_BY},
            "type": "Opaque",
            "immutable": True,
            "stringData": values,
        }
    yield job_network_policy(job, namespace)
    yield tfjob_spec(stack, job, code, secret)


def pods_of(manifest: Manifest) -> Iterator[Manifest]:
    """The pods that a controller makes of a manifest, one of each kind: the last, whose name is the
    longest."""
    name, spec = manifest["metadata"]["name"], manifest.get("spec", {})
    if manifest["kind"] == "TFJob":
        for kind, replicas in spec["tfReplicaSpecs"].items():
            yield _replica(manifest, kind.lower(), replicas)
    elif manifest["kind"] in ("Deployment", "Job"):
        yield _pod(f"{name}-0abcd", manifest, spec["template"])


def _replica(tfjob: Manifest, role: str, replicas: dict[str, Any]) -> Manifest:
    name, index = tfjob["metadata"]["name"], replicas["replicas"] - 1
    pod = _pod(f"{name}-{role}-{index}", tfjob, replicas["template"])
    pod["metadata"]["labels"] |= {
        "training.kubeflow.org/operator-name": "tfjob-controller",
        "training.kubeflow.org/job-name": name,
        "training.kubeflow.org/replica-type": role,
        "training.kubeflow.org/replica-index": str(index),
    }
    policy = replicas["restartPolicy"]
    pod["spec"]["restartPolicy"] = "Never" if policy == "ExitCode" else policy
    return pod


def _pod(name: str, owner: Manifest, template: Manifest) -> Manifest:
    metadata = {"name": name, "namespace": owner["metadata"]["namespace"]}
    return deepcopy(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**template["metadata"], **metadata},
            "spec": template["spec"],
        }
    )


def _namespace(name: str, labels: dict[str, str]) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
