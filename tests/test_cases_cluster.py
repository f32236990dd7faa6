"""Public reports of what went wrong for others on clusters, each as small as it can be.

What others ran into on this machine stands in test_cases.py, and what only a real cluster shows in
tests/cluster.
"""

from typing import Any

import pytest

import config
from tests.training.cluster_stacks import PROGRAM, container, pod, tfjob
from workloads.tensorboard_spec import tensorboard_specs

BASE: dict[str, Any] = {
    "target": "kubernetes",
    "kubernetes": {"context": "a"},
    "storage": {"claim": "data"},
}
A10 = {"a10": {"selector": {"pool": "a10"}, "max": 2, "gpus": 1}}


def lines(jobs: dict[str, Any], **sections: Any) -> list[str]:
    named = {name: {"program": PROGRAM, **job} for name, job in jobs.items()}
    with pytest.raises(config.ConfigErrors) as caught:
        config.parse({**BASE, **sections, "jobs": named})
    return caught.value.lines


# https://github.com/tensorflow/tensorflow/issues/27058
def test_b02_the_operator_is_never_given_a_master() -> None:
    types = tfjob({"master": {}, "worker": {"replicas": 2}})["spec"]["tfReplicaSpecs"]
    assert list(types) == ["Chief", "Worker"]


@pytest.mark.parametrize(
    "job",
    [
        {"ps": {"replicas": 2}, "worker": {"replicas": 2}},
        {"chief": {}, "master": {}},
        {"wroker": {"replicas": 2}},
        {"Worker": {"replicas": 2}},
    ],
)
def test_b02_roles_that_never_complete_are_refused(job: dict[str, Any]) -> None:
    assert all(line.startswith("ack-training:jobs.m") for line in lines({"m": job}))


# https://github.com/kubeflow/trainer/issues/774
def test_b04_parameter_servers_end_with_the_job() -> None:
    spec = tfjob({"chief": {}, "ps": {}, "worker": {}})["spec"]
    assert spec["runPolicy"]["cleanPodPolicy"] == "Running"
    assert "cleanPodPolicy" not in spec


@pytest.mark.parametrize("key", ["cleanpodpolicy", "CleanPodPolicy", "cleanPodPolcy"])
def test_b04_a_miscased_policy_is_told(key: str) -> None:
    (line,) = lines({"m": {"chief": {}, key: "All"}})
    assert line.endswith("unknown key; did you mean cleanPodPolicy?")


# https://github.com/kubeflow/arena/issues/215
@pytest.mark.parametrize("gpus", [0.5, -1, "two", "1", True])
def test_b07_parts_of_a_GPU_are_refused_by_the_key(gpus: object) -> None:
    (line,) = lines({"m": {"worker": {"gpus": gpus}}})
    assert line.startswith("ack-training:jobs.m.worker.gpus: must be a whole number")


def test_b07_requests_of_GPUs_equal_their_limits() -> None:
    resources = container({"worker": {"gpus": 2}})["resources"]
    assert resources["requests"]["nvidia.com/gpu"] == resources["limits"]["nvidia.com/gpu"] == "2"


# https://github.com/kubeflow/trainer/issues/165
def test_b08_a_job_that_never_fits_is_an_error() -> None:
    eight = {"m": {"worker": {"gpus": 8, "nodePool": "a10"}}}
    (line,) = lines(eight, nodePools={"a10": {"selector": {"p": "a"}, "max": 2, "gpus": 4}})
    assert line == (
        "ack-training:jobs.m.worker.gpus: 8 GPUs fit on no node of a10, which has 4 GPUs"
    )


def test_b08_jobs_that_may_wait_for_each_other_are_told_with_totals() -> None:
    two = {"program": PROGRAM, "worker": {"replicas": 2, "gpus": 1, "nodePool": "a10"}}
    stack = config.parse({**BASE, "nodePools": A10, "jobs": {"a": two, "b": two}})
    (notice,) = stack.notices
    assert "a, b together ask for 4 GPUs, and its 2 nodes have 2 GPUs" in notice


@pytest.mark.parametrize("gang", ["volcano", "scheduler-plugins"])
def test_b08_a_gang_needs_its_scheduler(gang: str) -> None:
    (line,) = lines({"m": {"worker": {}, "scheduling": {"gang": gang}}})
    assert line.startswith(f"ack-training:jobs.m.scheduling.gang: {gang} needs operator: ")


# https://github.com/tensorflow/tensorboard/issues/1011
def test_b17_one_log_directory_for_each_job_and_role() -> None:
    stack = config.parse({**BASE, "tensorboard": {"pathPrefix": "tb/"}})
    deployment = tensorboard_specs(stack)["Deployment"]
    (board,) = deployment["spec"]["template"]["spec"]["containers"]
    assert "--path_prefix=/tb" in board["command"]
    assert "--reload_multifile=true" in board["command"]
    assert board["readinessProbe"]["httpGet"]["path"].startswith("/tb/")


# https://github.com/NVIDIA/nccl/issues/525
def test_b19_shared_memory_is_a_volume_in_memory() -> None:
    volumes = {volume["name"]: volume for volume in pod({"worker": {"gpus": 4}})["volumes"]}
    assert volumes["shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "2Gi"}


@pytest.mark.parametrize("shm", ["2gb", "3Gi", 0, "64MB"])
def test_b19_bad_sizes_are_refused(shm: object) -> None:
    (line,) = lines({"m": {"worker": {"memory": "2Gi", "shm": shm}}})
    assert line.startswith("ack-training:jobs.m.worker.shm: ")


# https://github.com/kubeflow/kubeflow/issues/4508
@pytest.mark.parametrize(
    "image", ["gcr.io/a/b/c:1", "ghcr.io/x@sha256:" + "0" * 64, "busybox", "host:5000/own:2"]
)
def test_b20_one_key_rewrites_every_image(image: str) -> None:
    registry = "registry.cn-hangzhou.aliyuncs.com/team"
    found = container({"worker": {}, "image": image}, imageRegistry=registry)["image"]
    assert found.startswith(f"{registry}/")
    assert found.count("/") == 2
