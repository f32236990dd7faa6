"""Training jobs of this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pulumi

from config.jobs import Job
from config.program import program_files
from config.replicas import Replicas
from infra.machine import Machine
from workloads.local import Service, model_server, model_server_name


class TrainingJob(pulumi.ComponentResource):
    """A job, and the model server of its exports where it asks for one.

    Outputs: `state`, `directory` (checkpoints, logs and exports, below the shared directory),
    `predict` (URL of the predict call; None without `serve`).
    """

    def __init__(
        self,
        job: Job,
        *,
        machine: Machine,
        after: Sequence[pulumi.Resource],
        project: Path,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("ackTraining:training:TrainingJob", job.name, None, opts)
        self.name = job.name
        self._job = _Job(
            job,
            machine=machine,
            project=project,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[machine, *after]),
        )
        self.state = self._job.state
        self.directory = f"{machine.storage_path}/{job.directory}"
        self.predict: pulumi.Output[str] | None = None
        if job.serve is not None:
            # Not after the job: it serves the newest export there is, also while the job trains. A
            # job that is waited for waits for it to load what it exported.
            server = model_server(
                job.name,
                job.directory,
                job.serve.port,
                machine,
                pulumi.ResourceOptions(parent=self, depends_on=[machine]),
            )
            self.predict = _predict_url(server)
        self.register_outputs(self.summary())

    def summary(self) -> dict[str, Any]:
        """The job's part of the stack's outputs."""
        found: dict[str, Any] = {"state": self.state, "directory": self.directory}
        if self.predict is not None:
            found["predict"] = self.predict
        return found


def _predict_url(server: Service) -> pulumi.Output[str]:
    return server.url.apply(lambda url: f"{url}:predict")


class _Job(pulumi.CustomResource):
    state: pulumi.Output[str]

    def __init__(
        self, job: Job, *, machine: Machine, project: Path, opts: pulumi.ResourceOptions
    ) -> None:
        super().__init__(
            "acktraining:local:Job",
            job.name,
            {**job_inputs(job, machine.storage_path, machine.state_path, project), "state": None},
            opts,
        )


def job_inputs(job: Job, storage: str, state_directory: str, project: Path) -> dict[str, Any]:
    """What the provider is told of a job. Everything a replica's process depends on is in here, and
    nothing of this machine, so that another checkout or Python makes no difference."""
    inputs: dict[str, Any] = {
        "name": job.name,
        "run": job.run,
        "strategy": job.strategy,
        "roles": {role: _size(replicas) for role, replicas in job.roles.items()},
        "args": list(job.args),
        "runPolicy": {
            "cleanPodPolicy": job.clean_pod_policy,
            "backoffLimit": job.backoff_limit,
            "activeDeadlineSeconds": _seconds(job.deadline),
        },
        "successPolicy": "AllWorkers" if job.success_policy == "AllWorkers" else "",
        "suspend": job.suspend,
        "directory": job.directory,
        "export": job.export is not None,
        "wait": job.wait or "succeeded",
        "waitTimeoutSeconds": _seconds(job.wait_timeout),
        "startTimeoutSeconds": _seconds(job.start_timeout),
        "storage": storage,
        "stateDirectory": state_directory,
        "environment": {name: env.value for name, env in job.env.items() if not env.secret},
    }
    if job.program is not None:
        inputs["program"] = job.program
        inputs["code"] = program_files(project, job.program)
    else:
        inputs["command"] = list(job.command or ())
    if job.serve is not None:
        inputs["server"] = model_server_name(job.name)
    if job.image is not None:
        inputs["image"] = job.image
    secrets = {name: env.value for name, env in job.env.items() if env.secret}
    if secrets:
        inputs["secretEnvironment"] = pulumi.Output.secret(secrets)
    if job.opaque:
        for key in ("args", "command"):
            if key in inputs:
                inputs[key] = pulumi.Output.secret(inputs[key])
    return inputs


def _size(role: Replicas) -> dict[str, Any]:
    """All of it, also what only a cluster heeds: an edit shows the same preview on every target."""
    size: dict[str, Any] = {
        "replicas": role.replicas,
        "restartPolicy": role.restart_policy,
        "gpus": role.gpus,
    }
    optional = {"cpu": role.cpu, "memory": role.memory, "nodePool": role.node_pool}
    return size | {key: str(value) for key, value in optional.items() if value is not None}


def _seconds(duration: Any) -> int | None:
    return None if duration is None else int(duration.total_seconds())
