"""What the provider is told of a job, on every target: an edit shows the same preview on each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi

from config.jobs import Job
from config.program import program_files
from config.replicas import Replicas


def job_inputs(job: Job, project: Path, *, wait: str) -> dict[str, Any]:
    """Everything that a replica depends on. Nothing of this machine is in it, so that another
    checkout or Python makes no difference. `wait` is the target's own, where the job has none."""
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
        "wait": job.wait or wait,
        "waitTimeoutSeconds": _seconds(job.wait_timeout),
        "startTimeoutSeconds": _seconds(job.start_timeout),
        "environment": {
            name: env.value
            for name, env in job.env.items()
            if not env.secret and env.secret_key_ref is None
        },
    }
    if job.program is not None:
        inputs["program"] = job.program
        inputs["code"] = program_files(project, job.program)
    else:
        inputs["command"] = list(job.command or ())
    if job.image is not None:
        inputs["image"] = job.image
    if job.opaque:
        # So that no sentence repeats them: the engine tells the provider the bare values.
        inputs["opaque"] = True
        for key in ("args", "command"):
            if key in inputs:
                inputs[key] = pulumi.Output.secret(inputs[key])
    return inputs


def secret_environment(job: Job) -> dict[str, str]:
    """The variables that nobody may see."""
    return {name: env.value for name, env in job.env.items() if env.secret}


def _size(role: Replicas) -> dict[str, Any]:
    """All of it, also what only a cluster heeds."""
    size: dict[str, Any] = {
        "replicas": role.replicas,
        "restartPolicy": role.restart_policy,
        "gpus": role.gpus,
    }
    optional = {
        "cpu": role.cpu,
        "memory": role.memory,
        "cpuLimit": role.cpu_limit,
        "memoryLimit": role.memory_limit,
        "shm": role.shm,
        "nodePool": role.node_pool,
    }
    return size | {key: str(value) for key, value in optional.items() if value is not None}


def _seconds(duration: Any) -> int | None:
    return None if duration is None else int(duration.total_seconds())
