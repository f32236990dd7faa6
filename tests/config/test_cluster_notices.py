"""What is told of a stack on a cluster although nothing is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from config import parse


def notices(**sections: Any) -> tuple[str, ...]:
    base: dict[str, Any] = {
        "target": "kubernetes",
        "kubernetes": {"context": "a"},
        "storage": {"claim": "data"},
    }
    return parse({**base, **sections}).notices


def job(**settings: Any) -> dict[str, Any]:
    return {"program": "a.py", **settings}


def test_nothing_is_said_of_a_plain_stack() -> None:
    assert notices(jobs={"m": job(worker={})}) == ()


POOLS = {"a10": {"selector": {"pool": "a10"}, "max": 2, "gpus": 1, "memory": "8Gi"}}


def test_jobs_that_do_not_fit_together() -> None:
    two = job(worker={"replicas": 2, "gpus": 1, "memory": "4Gi", "nodePool": "a10"})
    (line,) = notices(nodePools=POOLS, jobs={"a": two, "b": two})
    assert line == (
        "ack-training:nodePools.a10: a, b together ask for 4 GPUs, and its 2 nodes have 2 GPUs: "
        "they run one after the other, or wait for each other where they are not scheduled as gangs"
    )


@pytest.mark.parametrize("other", [{"suspend": True}, {"worker": {"gpus": 1}}])
def test_suspended_jobs_and_other_nodes_do_not_count(other: dict[str, Any]) -> None:
    two = job(worker={"replicas": 2, "gpus": 1, "nodePool": "a10"})
    assert notices(nodePools=POOLS, jobs={"a": two, "b": {**two, **other}}) == ()


def test_an_open_tensorboard() -> None:
    (line,) = notices(tensorboard={"serviceType": "LoadBalancer"})
    assert "LoadBalancer opens TensorBoard" in line
    assert notices(tensorboard={"serviceType": "LoadBalancer", "enabled": False}) == ()


def test_serving_and_gangs() -> None:
    lines = notices(
        operator={"gangScheduler": "volcano"},
        jobs={
            "a": job(worker={}, export={}, serve={}, scheduling={"gang": "pod-labels"}),
            "b": job(worker={}),
        },
    )
    assert [line.split(": ")[0].removeprefix("ack-training:jobs.") for line in lines] == [
        "a.serve",
        "a.scheduling.gang",
        "b.scheduling.gang",
    ]


def test_nothing_of_a_cluster_is_said_of_local() -> None:
    assert parse({"jobs": {"m": job(worker={}, export={}, serve={})}}).notices == ()
