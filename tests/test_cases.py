"""What others ran into with distributed TensorFlow, each as a test of the whole kind.

The ids are those of the public reports named beside them; other tests go deeper where a case needs
processes: tests/training/programs (B12, B21, B23), tests/engine (B06, B16, B17).
"""

from pathlib import Path
from typing import Any

import pytest

import config
from provider.job import Job
from provider.kinds import Call
from training.job_inputs import job_inputs
from training.tf_config import tf_config

PROJECT_JOB: dict[str, Any] = {"command": ["true"]}


def lines(**job: Any) -> list[str]:
    with pytest.raises(config.ConfigErrors) as caught:
        config.parse({"jobs": {"m": {**PROJECT_JOB, **job}}})
    return list(caught.value.lines)


def accepted(**job: Any) -> config.Stack:
    return config.parse({"jobs": {"m": {**PROJECT_JOB, **job}}})


# https://github.com/kubeflow/trainer/issues/1078
@pytest.mark.parametrize("role", ["chief", "worker"])
def test_b01_one_replica_in_all_gets_no_tf_config(role: Any) -> None:
    job = accepted(**{role: {}}).jobs["m"]
    assert tf_config(job.counts, role, 0, lambda role, index: "127.0.0.1:1") is None
    assert job.strategy == "none"


# https://github.com/tensorflow/tensorflow/issues/27058
def test_b02_master_is_read_as_chief_with_a_notice() -> None:
    stack = accepted(master={}, worker={"replicas": 2})
    assert stack.jobs["m"].counts == {"chief": 1, "worker": 2}
    (notice,) = stack.notices
    assert "master" in notice
    assert "chief" in notice


@pytest.mark.parametrize(
    ("roles", "key"),
    [
        ({"ps": {"replicas": 2}, "worker": {"replicas": 2}}, "ps"),
        ({"chief": {}, "master": {}}, "master"),
        ({"wroker": {"replicas": 2}}, "wroker"),
        ({"chief": {"replicas": 2}}, "chief.replicas"),
        ({"chief": {}, "worker": {}, "evaluator": {"replicas": 2}}, "evaluator.replicas"),
    ],
)
def test_b02_roles_that_cannot_train_are_refused_by_key(roles: dict[str, Any], key: str) -> None:
    assert any(line.startswith(f"ack-training:jobs.m.{key}:") for line in lines(**roles))


# https://github.com/kubeflow/trainer/issues/774
def test_b04_replicas_that_would_never_end_are_stopped_by_default() -> None:
    assert accepted(chief={}, ps={}, worker={}).jobs["m"].clean_pod_policy == "Running"


@pytest.mark.parametrize("key", ["cleanpodpolicy", "CleanPodPolicy", "cleanPodPolicys"])
def test_b04_a_misspelt_policy_is_not_ignored(key: str) -> None:
    (line,) = lines(chief={}, **{key: "All"})
    assert line.startswith(f"ack-training:jobs.m.{key}:")
    assert "cleanPodPolicy" in line


# https://github.com/kubeflow/trainer/issues/2070
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"worker": {"replicas": 2}}, {"worker": {"replicas": 3}}),
        ({"worker": {"gpus": 1}}, {"worker": {"gpus": 2}}),
        ({"image": "a:1"}, {"image": "a:2"}),
        ({"args": ["--steps=1"]}, {"args": ["--steps=2"]}),
        ({"env": {"A": "1"}}, {"env": {"A": "2"}}),
        ({"backoffLimit": 1}, {"backoffLimit": 2}),
        ({}, {"export": {}}),
        ({}, {"run": 2}),
    ],
)
def test_b06_a_change_of_the_job_is_never_an_update_in_place(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    change = Job().compare(Call(inputs=inputs(after), old_inputs=inputs(before)))
    assert change.replaces
    assert not change.updates


@pytest.mark.parametrize("key", ["ttlSecondsAfterFinished", "ttlsecondsafterfinished"])
def test_b06_deleting_a_finished_job_by_time_is_refused_with_the_reason(key: str) -> None:
    (line,) = lines(chief={}, **{key: 60})
    assert "train it again" in line


# https://github.com/tensorflow/tensorboard/issues/1885
@pytest.mark.parametrize("prefix", ["tb/", "/tb", "tb", "/tb/"])
def test_b17_a_path_prefix_has_one_spelling(prefix: str) -> None:
    assert config.parse({"tensorboard": {"pathPrefix": prefix}}).tensorboard.path_prefix == "/tb"


# https://github.com/tensorflow/tensorflow/issues/45839
@pytest.mark.parametrize("directory", ["/tmp/x", "../x", "a/../../x", "datasets", "datasets/x"])
def test_b21_checkpoints_cannot_leave_the_shared_directory(directory: str) -> None:
    (line,) = lines(chief={}, directory=directory)
    assert line.startswith("ack-training:jobs.m.directory:")


# https://github.com/tensorflow/serving/issues/1250
@pytest.mark.parametrize("job", [{"exportVersion": "v1"}, {"export": {"version": "v1"}}])
def test_b23_export_versions_are_no_names(job: dict[str, Any]) -> None:
    (line,) = lines(chief={}, **job)
    assert "whole numbers" in line


def inputs(job: dict[str, Any]) -> dict[str, Any]:
    stack = accepted(**{"chief": {}, "worker": {}, **job})
    of_this_machine = {"storage": "data", "stateDirectory": ".ack-training/test"}
    return job_inputs(stack.jobs["m"], Path(), wait="succeeded") | of_this_machine


# https://github.com/pulumi/pulumi-kubernetes/issues/1353
def test_b16_a_secret_that_is_written_in_plain_text_is_told() -> None:
    stack = accepted(chief={}, env={"TOKEN": {"value": "corn-4711", "secret": True}})
    (notice,) = stack.notices
    assert notice.startswith("ack-training:jobs.m.env.TOKEN:")
    assert "corn-4711" not in notice


def test_a_limit_that_counts_nothing_is_told() -> None:
    (notice,) = accepted(chief={}, backoffLimit=3).notices
    assert notice.startswith("ack-training:jobs.m.backoffLimit:")
    assert accepted(chief={"restartPolicy": "OnFailure"}, backoffLimit=3).notices == ()


@pytest.mark.parametrize(("workers", "told"), [(15, False), (16, True)])
def test_a_job_of_many_processes_on_one_machine_is_told(workers: int, told: bool) -> None:
    notices = accepted(chief={}, worker={"replicas": workers}).notices
    assert any("processes of this machine" in notice for notice in notices) is told
