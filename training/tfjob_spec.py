"""The TFJob of a job, as a pure function of the job and the stack.

https://github.com/kubeflow/training-operator/blob/v1.9.4/pkg/apis/kubeflow.org/v1/tensorflow_types.go
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from config.jobs import Job
from config.roles import Role
from config.stack import Stack
from training.pod_spec import pod_spec
from training.pod_volumes import Code
from workloads.pods import MANAGED_BY, Manifest

API_VERSION = "kubeflow.org/v1"
KIND = "TFJob"

GENERATION = "ack-training/generation"
"""Annotation of a TFJob and of its pods: a digest of all that a running job cannot be given."""

_REPLICA_TYPES: dict[Role, str] = {
    "chief": "Chief",
    "worker": "Worker",
    "ps": "PS",
    "evaluator": "Evaluator",
}


def tfjob_spec(stack: Stack, job: Job, code: Code | None, secret_name: Any = None) -> Manifest:
    """The manifest. Every setting of the job is in it, or is none of a cluster's.

    `secret_name` is the Secret of the job's secret variables; it may be known later than this.
    """
    spec = _spec(stack, job, code, secret_name)
    # Another value of a secret is another Secret, which the engine sees as another spec.
    generation = _digest(spec if secret_name is None else _spec(stack, job, code, ""))
    for replicas in spec["tfReplicaSpecs"].values():
        replicas["template"]["metadata"]["annotations"][GENERATION] = generation
    spec["runPolicy"]["suspend"] = job.suspend
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": job.name,
            "namespace": stack.kubernetes.namespace,
            "labels": {**MANAGED_BY, **_arena_labels(job)},
            "annotations": {GENERATION: generation},
        },
        "spec": spec,
    }


def generation_of(manifest: Manifest) -> str:
    """The digest in a TFJob of `tfjob_spec`."""
    return str(manifest["metadata"]["annotations"][GENERATION])


def _spec(stack: Stack, job: Job, code: Code | None, secret_name: Any) -> Manifest:
    return {
        "runPolicy": _run_policy(job),
        # With a chief only the chief decides, whatever stands here.
        "successPolicy": "AllWorkers" if job.success_policy == "AllWorkers" else "",
        "tfReplicaSpecs": {
            _REPLICA_TYPES[role]: {
                "replicas": replicas.replicas,
                "restartPolicy": replicas.restart_policy,
                "template": {
                    "metadata": {"labels": _pod_labels(job), "annotations": _pod_annotations(job)},
                    "spec": pod_spec(stack, job, role, code, secret_name),
                },
            }
            for role, replicas in job.roles.items()
        },
    }


def _run_policy(job: Job) -> Manifest:
    policy: Manifest = {"cleanPodPolicy": job.clean_pod_policy}
    if job.backoff_limit is not None:
        policy["backoffLimit"] = job.backoff_limit
    if job.deadline is not None:
        policy["activeDeadlineSeconds"] = int(job.deadline.total_seconds())
    scheduling = job.scheduling
    if scheduling.gang in ("volcano", "scheduler-plugins"):
        group: Manifest = {"minAvailable": scheduling.min_available or job.total}
        if scheduling.queue is not None:
            group["queue"] = scheduling.queue
        if scheduling.gang == "volcano" and scheduling.priority_class is not None:
            group["priorityClass"] = scheduling.priority_class
        policy["schedulingPolicy"] = group
    return policy


def _arena_labels(job: Job) -> dict[str, str]:
    """What `arena list` and `arena get` find a TFJob and its pods by.

    https://github.com/kubeflow/arena/blob/v0.15.5/charts/tfjob/templates/tfjob.yaml
    """
    return {"app": "tfjob", "release": job.name, "createdBy": "TFJob"}


def _pod_labels(job: Job) -> dict[str, str]:
    labels = {**MANAGED_BY, **_arena_labels(job)}
    if job.scheduling.gang == "pod-labels":
        # https://www.alibabacloud.com/help/doc-detail/178169.html
        labels |= {
            "pod-group.scheduling.sigs.k8s.io/name": job.name,
            "pod-group.scheduling.sigs.k8s.io/min-available": str(
                job.scheduling.min_available or job.total
            ),
        }
    return labels


def _pod_annotations(job: Job) -> dict[str, str]:
    gpus = sum(replicas.gpus * replicas.replicas for replicas in job.roles.values())
    return {"requestGPUsOfJobOwner": str(gpus)}


def _digest(spec: Manifest) -> str:
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]
