"""TF_CONFIG against what the operator's own code gave (tests/golden/tfconfig)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from config.roles import in_order
from training.tf_config import cluster_address, tf_config

GOLDEN = Path(__file__).parents[1] / "golden" / "tf_config.json"
JOBS: list[dict[str, Any]] = json.loads(GOLDEN.read_text())


def test_goldens_hold_every_combination_up_to_five_replicas() -> None:
    combinations = {
        (chief, worker, ps, evaluator)
        for chief in (0, 1)
        for worker in range(6)
        for ps in range(6)
        for evaluator in (0, 1)
        if 1 <= chief + worker + ps + evaluator <= 5
    }
    roles = ("chief", "worker", "ps", "evaluator")
    assert {tuple(job["roles"].get(role, 0) for role in roles) for job in JOBS} == combinations


@pytest.mark.parametrize("job", JOBS, ids=lambda job: str(job["roles"]))
def test_every_replica_gets_the_operators_bytes(job: dict[str, Any]) -> None:
    address = cluster_address(job["name"], job["namespace"])
    expected = [(each["role"], each["index"], each["tfConfig"]) for each in job["replicas"]]
    assert [
        (role, index, tf_config(job["roles"], role, index, address))
        for role, index in in_order(job["roles"])
    ] == expected


def test_addresses_come_from_the_resolver() -> None:
    ports = {("chief", 0): 4001, ("worker", 0): 4002}
    text = tf_config(
        {"chief": 1, "worker": 1}, "worker", 0, lambda role, i: f"127.0.0.1:{ports[role, i]}"
    )
    assert text is not None
    assert json.loads(text)["cluster"] == {
        "chief": ["127.0.0.1:4001"],
        "worker": ["127.0.0.1:4002"],
    }


def test_a_role_without_replicas_is_not_in_the_cluster() -> None:
    text = tf_config({"worker": 2, "ps": 0}, "worker", 1, cluster_address("m", "n"))
    assert text is not None
    assert set(json.loads(text)["cluster"]) == {"worker"}


@pytest.mark.parametrize(("role", "index"), [("worker", 2), ("worker", -1), ("ps", 0)])
def test_a_replica_the_job_does_not_have_is_refused(role: Any, index: int) -> None:
    with pytest.raises(ValueError, match=f"no {role} {index}"):
        tf_config({"worker": 2}, role, index, cluster_address("m", "n"))
