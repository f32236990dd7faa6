"""The structure of a stack, under Pulumi's mocks."""

import asyncio
from collections.abc import Iterator
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

    def new_resource(
        self, args: pulumi.runtime.MockResourceArgs
    ) -> tuple[str | None, dict[str, Any]]:
        self.resources[f"{args.typ}::{args.name}"] = dict(args.inputs)
        return f"{args.name}-id", {**args.inputs, "url": "http://127.0.0.1:1", "state": "Succeeded"}

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], None]:
        return {}, None


class KeptLoops(asyncio.DefaultEventLoopPolicy):
    """The SDK's mocks make a loop in each of their threads and never close it."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[asyncio.AbstractEventLoop] = []

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        self.made.append(super().new_event_loop())
        return self.made[-1]


@pytest.fixture(scope="module", autouse=True)
def closed_loops() -> Iterator[None]:
    policy = KeptLoops()
    asyncio.set_event_loop_policy(policy)
    asyncio.set_event_loop(asyncio.new_event_loop())
    yield
    asyncio.set_event_loop_policy(None)
    for loop in policy.made:
        loop.close()


def deploy(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """type::name → inputs of every resource of the stack."""
    recorder = Recorder()
    pulumi.runtime.set_mocks(recorder, project="ack-training", stack="test", preview=False)

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def run() -> None:
        targets.deploy(config.parse(settings, project_directory=PROJECT), PROJECT)

    run()
    return recorder.resources


def test_a_stack_without_jobs_has_its_machine_data_and_tensorboard() -> None:
    assert sorted(deploy({})) == [
        "acktraining:local:Dataset::mnist",
        "acktraining:local:Machine::machine",
        "acktraining:local:Service::tensorboard",
    ]


def test_a_job_is_declared_whole() -> None:
    resources = deploy({"jobs": {"m": {**JOB, "args": ["--steps=10"], "deadline": "1h"}}})
    inputs = resources["acktraining:local:Job::m"]
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
    serve: dict[str, Any] = {"export": {}, "serve": {}} if served else {}
    resources = deploy({"jobs": {"m": {**JOB, **serve}}})
    assert ("acktraining:local:Service::m-server" in resources) is served


def test_the_machine_knows_all_that_may_run() -> None:
    resources = deploy({"jobs": {"m": {**JOB, "export": {}, "serve": {}}}})
    machine = resources["acktraining:local:Machine::machine"]
    assert machine["jobs"] == ["m"]
    assert machine["services"] == ["m-server", "tensorboard"]


def test_tensorboard_can_be_left_out() -> None:
    assert "acktraining:local:Service::tensorboard" not in deploy(
        {"tensorboard": {"enabled": False}}
    )
