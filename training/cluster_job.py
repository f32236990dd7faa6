"""Training jobs of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pulumi

from config.jobs import Job
from config.program import program_files
from config.stack import Stack
from infra.cluster import Cluster
from infra.kubernetes_object import KubernetesObject
from training.code_config_map import code_config_map
from training.job_inputs import job_inputs, secret_environment
from training.job_network_policy import job_network_policy
from training.pod_volumes import Code
from training.tfjob_spec import generation_of, tfjob_spec
from workloads.pods import MANAGED_BY

_REPLACING = [
    "spec.tfReplicaSpecs",
    "spec.successPolicy",
    "spec.runPolicy.activeDeadlineSeconds",
    "spec.runPolicy.backoffLimit",
    "spec.runPolicy.cleanPodPolicy",
    "spec.runPolicy.schedulingPolicy",
]
"""All but spec.runPolicy.suspend. The operator takes edits of a running job without a word, and its
pods keep their old size, image and TF_CONFIG: https://github.com/kubeflow/trainer/issues/2070"""

_ANOTHERS_JOB = "rename the job, or delete that one"


class TrainingJob(pulumi.ComponentResource):
    """A job as a TFJob, and what its pods mount.

    Outputs: `state`, `directory` (checkpoints, logs and exports, on the shared volume).
    """

    def __init__(
        self,
        job: Job,
        *,
        stack: Stack,
        cluster: Cluster,
        after: Sequence[pulumi.Resource],
        project: Path,
    ) -> None:
        super().__init__(
            "ackTraining:training:TrainingJob",
            job.name,
            None,
            pulumi.ResourceOptions(parent=cluster),
        )
        self.name = job.name
        namespace = stack.kubernetes.namespace
        needed = list(after)
        code: Code | None = None
        manifest = code_config_map(job, project, namespace)
        if manifest is not None and job.program is not None:
            code = Code(manifest["metadata"]["name"], program_files(project, job.program))
            needed.append(
                cluster.declare(f"{job.name}-code", manifest, parent=self, depends_on=after)
            )
        secret = _secret(job, namespace, cluster, self)
        policy = cluster.declare(
            f"{job.name}-network",
            job_network_policy(job, namespace),
            parent=self,
            depends_on=after,
            hint=_ANOTHERS_JOB,
        )
        secret_name = None if secret is None else secret.object_name
        spec = tfjob_spec(stack, job, code, secret_name)
        generation = generation_of(spec)
        if job.opaque:
            spec["spec"] = pulumi.Output.secret(spec["spec"])
        self.tfjob = cluster.declare(
            job.name,
            spec,
            parent=self,
            depends_on=[*needed, policy],
            hint=_ANOTHERS_JOB,
            replace_on_changes=_REPLACING,
            delete_before_replace=True,
        )
        run = TrainingRun(
            job,
            tfjob=self.tfjob,
            generation=generation,
            secret=secret_name,
            stack=stack,
            cluster=cluster,
            project=project,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self.tfjob]),
        )
        self.state = run.state
        self.directory = job.directory
        self.register_outputs(self.summary())

    def summary(self) -> dict[str, Any]:
        """The job's part of the stack's outputs."""
        return {"state": self.state, "directory": self.directory}


class TrainingRun(pulumi.CustomResource):
    """What becomes of a TFJob: exists once it has come as far as the job's `wait` asks."""

    state: pulumi.Output[str]

    def __init__(
        self,
        job: Job,
        *,
        tfjob: KubernetesObject,
        generation: str,
        secret: pulumi.Output[str] | None,
        stack: Stack,
        cluster: Cluster,
        project: Path,
        opts: pulumi.ResourceOptions,
    ) -> None:
        inputs = job_inputs(job, project, wait="running")
        inputs |= {
            "connection": cluster.connection_settings,
            "namespace": stack.kubernetes.namespace,
            "generation": generation,
            # Another object of that name is to be waited for as the first one was.
            "uid": tfjob.metadata.apply(lambda metadata: str(metadata.get("uid") or "")),
            "autoscaled": _autoscaled(stack, job),
            "operatorNamespace": stack.operator.namespace,
            # In the words of the stack's file: previews name it.
            "storage": stack.storage.in_words(),
            "state": None,
        }
        for role, replicas in job.roles.items():
            if replicas.tolerations:
                inputs["roles"][role]["tolerations"] = [
                    toleration.model_dump(exclude_none=True) for toleration in replicas.tolerations
                ]
        if variables := _secret_variables(job):
            inputs["secretVariables"] = variables
        if secret is not None:
            inputs["secret"] = secret
        super().__init__("acktraining:cluster:TrainingRun", job.name, inputs, opts)


def _secret(
    job: Job, namespace: str, cluster: Cluster, parent: pulumi.Resource
) -> KubernetesObject | None:
    """The Secret of the job's secret variables. Pulumi names it: other values are another Secret
    under another name, so that the job that reads it is another job."""
    values = secret_environment(job)
    if not values:
        return None
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": namespace, "labels": MANAGED_BY},
        "type": "Opaque",
        "immutable": True,
        "stringData": pulumi.Output.secret(values),
    }
    return cluster.declare(
        f"{job.name}-env",
        manifest,
        parent=parent,
        additional_secret_outputs=["data", "stringData"],
        replace_on_changes=["stringData"],
        delete_before_replace=False,
    )


def _secret_variables(job: Job) -> dict[str, str]:
    """Where each variable comes from that a Secret holds."""
    found = {name: "config" for name, env in job.env.items() if env.secret}
    return found | {
        name: f"{env.secret_key_ref.name}/{env.secret_key_ref.key}"
        for name, env in job.env.items()
        if env.secret_key_ref is not None
    }


def _autoscaled(stack: Stack, job: Job) -> bool:
    """Whether a replica that fits nowhere may fit soon."""
    pools = [stack.node_pools.get(replicas.node_pool or "") for replicas in job.roles.values()]
    return any(pool is not None and pool.grows for pool in pools)
