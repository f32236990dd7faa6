"""Training jobs of this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pulumi

from config.jobs import Job
from infra.machine import Machine
from training.job_inputs import job_inputs, secret_environment
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
            {**_inputs(job, machine, project), "state": None},
            opts,
        )


def _inputs(job: Job, machine: Machine, project: Path) -> dict[str, Any]:
    inputs = job_inputs(job, project, wait="succeeded")
    inputs |= {"storage": machine.storage_path, "stateDirectory": machine.state_path}
    if job.serve is not None:
        inputs["server"] = model_server_name(job.name)
    if secrets := secret_environment(job):
        inputs["secretEnvironment"] = pulumi.Output.secret(secrets)
    return inputs
