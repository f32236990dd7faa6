"""What runs on this machine for every job: datasets, TensorBoard, model servers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from config.datasets import Dataset
from config.tensorboard import TensorBoard
from infra.machine import Machine

_START_TIMEOUT_SECONDS = 300
"""TensorFlow alone was seen to take 43 s to import on a loaded machine."""


def dataset(name: str, settings: Dataset, machine: Machine) -> pulumi.Resource:
    """The folder `datasets/<name>` of the shared directory, filled unless the user filled it."""
    return pulumi.CustomResource(
        "acktraining:local:Dataset",
        name,
        {
            "name": name,
            "source": settings.source,
            "storage": machine.storage_path,
            "stateDirectory": machine.state_path,
        },
        pulumi.ResourceOptions(parent=machine),
    )


class Service(pulumi.CustomResource):
    """A program of this machine that is kept alive and answers on `url` (output)."""

    url: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        machine: Machine,
        command: Sequence[str],
        port: Mapping[str, Any],
        url_path: str,
        health_path: str,
        opts: pulumi.ResourceOptions,
    ) -> None:
        super().__init__(
            "acktraining:local:Service",
            name,
            {
                "name": name,
                "stateDirectory": machine.state_path,
                "storage": machine.storage_path,
                "command": list(command),
                "urlPath": url_path,
                "healthUrl": f"http://127.0.0.1:{{port}}{health_path}",
                "startTimeoutSeconds": _START_TIMEOUT_SECONDS,
                **port,
                # Declared, so that the SDK fills it from the provider's reply.
                "url": None,
            },
            opts,
        )


def tensorboard(settings: TensorBoard, machine: Machine) -> Service:
    """TensorBoard over the logs of every job, on the loopback interface."""
    return Service(
        "tensorboard",
        machine=machine,
        command=tensorboard_command(settings),
        port=port_choice(settings.port, preferred=6006, key="ack-training:tensorboard.port"),
        url_path=f"{settings.path_prefix}/",
        health_path=f"{settings.path_prefix}/data/runs",
        opts=pulumi.ResourceOptions(parent=machine),
    )


def tensorboard_command(settings: TensorBoard) -> list[str]:
    """Follows every event file of a run: a job that was resumed has written several."""
    return [
        "{python}",
        "-m",
        "tensorboard.main",
        "--logdir={storage}",
        "--host=127.0.0.1",
        "--port={port}",
        f"--path_prefix={settings.path_prefix}",
        f"--reload_interval={int(settings.reload_interval.total_seconds())}",
        "--reload_multifile=true",
    ]


def model_server(
    job: str, directory: str, port: int | None, machine: Machine, opts: pulumi.ResourceOptions
) -> Service:
    """A model server for the exports of `job`: a real tensorflow_model_server where one is on PATH,
    else ours, which speaks the same REST API."""
    return Service(
        model_server_name(job),
        machine=machine,
        command=[
            "{model_server}",
            "--port={free_port}",
            "--rest_api_port={port}",
            f"--model_name={job}",
            f"--model_base_path={{storage}}/{directory}/export",
            "--file_system_poll_wait_seconds=1",
        ],
        port=port_choice(port, preferred=8501, key=f"ack-training:jobs.{job}.serve.port"),
        url_path=f"/v1/models/{job}",
        # By name: a server that lost its port to another job's must not pass for that one.
        health_path=f"/healthz?model={job}",
        opts=opts,
    )


def model_server_name(job: str) -> str:
    return f"{job}-server"


def port_choice(required: int | None, *, preferred: int, key: str) -> dict[str, Any]:
    """The inputs that choose a port: one that the config fixed, or the usual one if it is free."""
    if required is None:
        return {"preferredPort": preferred}
    return {"requiredPort": required, "portKey": key}
