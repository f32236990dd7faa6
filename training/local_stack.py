"""A whole stack on this machine, in the order of its layers."""

from pathlib import Path
from typing import Any

from config.stack import Stack
from infra.machine import Machine
from training.local import TrainingJob
from workloads.local import dataset, model_server_name, tensorboard


class LocalStack:
    """Afterwards the directories, datasets, TensorBoard and jobs of the stack are declared."""

    def __init__(self, stack: Stack, project: Path) -> None:
        served = [model_server_name(name) for name, job in stack.jobs.items() if job.serve]
        shown = ["tensorboard"] if stack.tensorboard.enabled else []
        machine = Machine(
            "machine", storage=stack.storage.path, jobs=list(stack.jobs), services=served + shown
        )
        datasets = [
            dataset(name, settings, machine)
            for name, settings in stack.datasets.items()
            if settings.source == "sample"
        ]
        self._tensorboard = tensorboard(stack.tensorboard, machine) if shown else None
        self._jobs = [
            TrainingJob(job, machine=machine, after=datasets, project=project)
            for job in stack.jobs.values()
        ]

    def outputs(self) -> dict[str, Any]:
        found: dict[str, Any] = {"jobs": {job.name: job.summary() for job in self._jobs}}
        if self._tensorboard is not None:
            found["tensorboard"] = self._tensorboard.url
        return found
