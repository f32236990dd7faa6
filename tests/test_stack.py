"""The structure of a stack, under Pulumi's mocks."""

import asyncio
from pathlib import Path
from typing import Any

import pulumi
import pytest

import config
import targets

PROJECT = Path(__file__).resolve().parent.parent
JOB: dict[str, Any] = {
    "program": "training/programs/mnist.py",
    "chief": {},
    "worker": {"replicas": 2},
    "ps": {"replicas": 2},
    "evaluator": {},
}


class Recorder(pulumi.runtime.Mocks):
    """Records what would be registered."""

    def __init__(self) -> None:
        self.resources: dict[str, dict[str, Any]] = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        self.resources[f"{args.typ}::{args.name}"] = dict(args.inputs)
        return f"{args.name}-id", {**args.inputs, "url": "http://127.0.0.1:1", "state": "Succeeded"}

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        return {}


def deploy(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """type::name → inputs of every resource of the stack."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    recorder = Recorder()
    pulumi.runtime.set_mocks(recorder, project="ack-training", stack="test", preview=False)

    @pulumi.runtime.test
    def run() -> None:
        targets.deploy(config.parse(settings, project_directory=PROJECT), PROJECT)

    run()
    return recorder.resources


def test_a_stack_without_jobs_has_its_machine_data_and_tensorboard() -> None:
    assert sorted(deploy({})) == [
        "ack-training:local:Dataset::mnist",
        "ack-training:local:Machine::machine",
        "ack-training:local:Service::tensorboard",
    ]


def test_a_job_is_declared_whole() -> None:
    resources = deploy({"jobs": {"m": {**JOB, "args": ["--steps=10"], "deadline": "1h"}}})
    inputs = resources["ack-training:local:Job::m"]
    assert {role: size["replicas"] for role, size in inputs["roles"].items()} == {
        "chief": 1,
        "worker": 2,
        "ps": 2,
        "evaluator": 1,
    }
    assert inputs["strategy"] == "parameterServer"
    assert inputs["args"] == ["--steps=10"]
    assert inputs["runPolicy"]["activeDeadlineSeconds"] == 3600
    assert inputs["runPolicy"]["cleanPodPolicy"] == "Running"
    assert "training/programs/mnist.py" in inputs["code"]


def test_nothing_of_this_machine_is_in_the_inputs() -> None:
    resources = deploy({"jobs": {"m": {**JOB, "export": {}, "serve": {}}}})
    assert str(PROJECT) not in str(resources)


@pytest.mark.parametrize("served", [True, False])
def test_a_model_server_is_there_where_a_job_asks_for_one(served: bool) -> None:
    serve = {"export": {}, "serve": {}} if served else {}
    resources = deploy({"jobs": {"m": {**JOB, **serve}}})
    assert ("ack-training:local:Service::m-server" in resources) is served


def test_the_machine_knows_all_that_may_run() -> None:
    resources = deploy({"jobs": {"m": {**JOB, "export": {}, "serve": {}}}})
    machine = resources["ack-training:local:Machine::machine"]
    assert machine["jobs"] == ["m"]
    assert machine["services"] == ["m-server", "tensorboard"]


def test_tensorboard_can_be_left_out() -> None:
    assert "ack-training:local:Service::tensorboard" not in deploy(
        {"tensorboard": {"enabled": False}}
    )
