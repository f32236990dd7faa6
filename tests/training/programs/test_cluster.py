"""TF_CONFIG as the operator writes it, as TensorFlow writes it, and as neither may."""

from __future__ import annotations

import json
from typing import Any

import pytest
from runtime.cluster import Mode, read_cluster
from runtime.errors import BAD_INPUT, ReplicaError


def config(cluster: dict[str, Any], role: str, index: Any = 0) -> dict[str, str]:
    task = {"type": role, "index": index}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})}


def hosts(role: str, count: int) -> list[str]:
    return [f"job-{role}-{i}.team.svc:2222" for i in range(count)]


def members(**roles: int) -> dict[str, list[str]]:
    return {role: hosts(role, count) for role, count in roles.items()}


@pytest.mark.parametrize("environment", [{}, {"TF_CONFIG": ""}, {"TF_CONFIG": " "}])
def test_without_tf_config_a_replica_trains_alone(environment: dict[str, str]) -> None:
    cluster = read_cluster(environment)
    assert cluster.mode is Mode.SINGLE
    assert cluster.is_leader
    assert cluster.peers == ()


def test_role_of_a_lone_replica_is_told_beside_tf_config() -> None:
    assert read_cluster({"ACK_TRAINING_REPLICA": "worker-0"}).writer == "worker"


@pytest.mark.parametrize(
    ("roles", "role", "mode"),
    [
        ({"worker": 1, "evaluator": 1}, "worker", Mode.SINGLE),
        ({"chief": 1, "evaluator": 1}, "chief", Mode.SINGLE),
        ({"worker": 2}, "worker", Mode.MULTI_WORKER_MIRRORED),
        ({"chief": 1, "worker": 1}, "chief", Mode.MULTI_WORKER_MIRRORED),
        ({"chief": 1, "worker": 1, "ps": 1}, "ps", Mode.PARAMETER_SERVER),
        ({"chief": 1, "worker": 2, "ps": 2, "evaluator": 1}, "chief", Mode.PARAMETER_SERVER),
        ({"chief": 1, "worker": 2, "ps": 2, "evaluator": 1}, "evaluator", Mode.EVALUATOR),
        ({"worker": 2, "evaluator": 1}, "evaluator", Mode.EVALUATOR),
    ],
)
def test_roles_decide_the_mode(roles: dict[str, int], role: str, mode: Mode) -> None:
    assert read_cluster(config(members(**roles), role)).mode is mode


def test_master_is_the_chief() -> None:
    cluster = read_cluster(config(members(master=1, worker=2), "master"))
    assert cluster.task.role == "chief"
    assert cluster.is_leader
    assert json.loads(cluster.tf_config()) == {
        "cluster": {"chief": hosts("master", 1), "worker": hosts("worker", 2)},
        "task": {"type": "chief", "index": 0},
    }


def test_evaluator_is_no_member_of_the_cluster() -> None:
    everyone = members(chief=1, worker=2, ps=2, evaluator=1)
    cluster = read_cluster(config(everyone, "worker", 1))
    assert cluster.has_evaluator
    assert sorted(cluster.addresses()) == ["chief", "ps", "worker"]
    assert [peer.name for peer in cluster.peers] == ["chief-0", "worker-0", "ps-0", "ps-1"]


def test_evaluator_may_be_absent_from_the_cluster_it_evaluates() -> None:
    cluster = read_cluster(config(members(chief=1, worker=1), "evaluator"))
    assert cluster.mode is Mode.EVALUATOR
    assert not cluster.is_leader


def test_worker_0_leads_where_there_is_no_chief() -> None:
    everyone = members(worker=2)
    assert read_cluster(config(everyone, "worker", 0)).is_leader
    assert not read_cluster(config(everyone, "worker", 1)).is_leader


@pytest.mark.parametrize(
    ("roles", "role", "writer"),
    [
        ({"chief": 1, "worker": 1}, "worker", "worker"),
        ({"chief": 1, "worker": 2}, "worker", "worker-0"),
        ({"chief": 1, "worker": 2}, "chief", "chief"),
        ({"worker": 2, "evaluator": 1}, "evaluator", "evaluator"),
    ],
)
def test_log_directory_is_numbered_where_a_role_has_several(
    roles: dict[str, int], role: str, writer: str
) -> None:
    assert read_cluster(config(members(**roles), role)).writer == writer


def test_the_brackets_of_an_ipv6_address_belong_to_the_text_alone() -> None:
    cluster = read_cluster(config({"worker": ["[fd00::2]:2222", "[fd00::3]:2222"]}, "worker"))
    assert cluster.task.host_port == ("fd00::2", 2222)
    assert cluster.addresses() == {"worker": ["[fd00::2]:2222", "[fd00::3]:2222"]}


def test_what_was_normalised_reads_the_same_again() -> None:
    first = read_cluster(config(members(master=1, worker=2, ps=1), "ps"))
    again = read_cluster({"TF_CONFIG": first.tf_config()})
    assert again == first


WRONG: list[tuple[dict[str, str], str]] = [
    ({"TF_CONFIG": "{"}, "not JSON"),
    ({"TF_CONFIG": "[]"}, "must be a JSON object"),
    ({"TF_CONFIG": '{"cluster": {}}'}, "task must be an object"),
    ({"TF_CONFIG": '{"cluster": [], "task": {}}'}, "cluster must be an object"),
    (config(members(wroker=2), "worker"), "did you mean worker?"),
    (config(members(worker=2), "wroker"), "task.type: 'wroker'"),
    (config(members(worker=2), "chief"), "which the cluster does not have"),
    (config(members(worker=2), "worker", 2), "the cluster has 2 of worker"),
    (config(members(worker=2), "worker", "0"), "task.index is '0'"),
    (config(members(worker=2), "worker", True), "task.index is True"),
    (config(members(worker=2), "worker", -1), "task.index is -1"),
    (config(members(chief=2, worker=1), "chief"), "a job has one chief"),
    (config(members(chief=1, master=1), "chief"), "both chief and master"),
    (config(members(ps=2, worker=2), "worker"), "has ps but no chief"),
    (config(members(ps=2, chief=1), "chief"), "has ps but no worker"),
    (config(members(worker=2, evaluator=1), "evaluator", 1), "the cluster has 1 of evaluator"),
    (config({"worker": {"1": "host:2222"}}, "worker"), "sparse clusters"),
    (config({"worker": ["host"]}, "worker"), "cluster.worker[0] is 'host', not host:port"),
    (config({"worker": ["host:0"]}, "worker"), "not host:port"),
    (config({"worker": ["host:65536"]}, "worker"), "not host:port"),
    (config({"worker": ["host:port"]}, "worker"), "not host:port"),
    (config({"worker": [2222]}, "worker"), "not host:port"),
    (config({"worker": ["a:1"], "chief": ["a:1"]}, "worker"), "a:1 more than once"),
    (config({"worker": ["::1:2222"]}, "worker"), "not host:port or [IPv6]:port"),
    (config({"worker": ["host:" + "9" * 5000]}, "worker"), "not host:port"),
    ({"ACK_TRAINING_REPLICA": "boss-0"}, "ACK_TRAINING_REPLICA: 'boss'"),
]


@pytest.mark.parametrize(("environment", "message"), WRONG)
def test_what_tensorflow_cannot_run_is_refused_in_one_line(
    environment: dict[str, str], message: str
) -> None:
    with pytest.raises(ReplicaError) as caught:
        read_cluster(environment)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.code == BAD_INPUT
