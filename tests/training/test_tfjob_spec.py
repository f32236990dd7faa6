"""The TFJob of a job: every setting reaches it, and only what may change in place changes alone."""

from __future__ import annotations

from typing import Any

import pytest

from config.jobs import Job
from config.replicas import Replicas
from config.scheduling import Scheduling
from tests.training.cluster_stacks import tfjob
from training.tfjob_spec import GENERATION, generation_of

POOLS = {"a10": {"selector": {"pool": "a10"}}}
VOLCANO = {"gangScheduler": "volcano"}
FULL: dict[str, Any] = {
    "chief": {},
    "worker": {"replicas": 2},
    "ps": {"replicas": 2},
    "evaluator": {},
}


def test_the_roles_of_a_parameter_server_job() -> None:
    replicas = tfjob(FULL)["spec"]["tfReplicaSpecs"]
    assert {name: spec["replicas"] for name, spec in replicas.items()} == {
        "Chief": 1,
        "Worker": 2,
        "PS": 2,
        "Evaluator": 1,
    }
    assert {spec["restartPolicy"] for spec in replicas.values()} == {"ExitCode"}
    for spec in replicas.values():
        (container,) = spec["template"]["spec"]["containers"]
        assert container["name"] == "tensorflow"
        assert "restartPolicy" not in spec["template"]["spec"]


def test_master_is_chief() -> None:
    assert list(tfjob({"master": {}, "worker": {}})["spec"]["tfReplicaSpecs"]) == [
        "Chief",
        "Worker",
    ]


def test_what_runs_stops_when_the_job_ends_without_anyone_saying_so() -> None:
    policy = tfjob(FULL)["spec"]["runPolicy"]
    assert policy == {"cleanPodPolicy": "Running", "suspend": False}
    assert "ttlSecondsAfterFinished" not in policy


def test_the_run_policy() -> None:
    job = {**FULL, "backoffLimit": 3, "deadline": "2h", "cleanPodPolicy": "All", "suspend": True}
    assert tfjob(job)["spec"]["runPolicy"] == {
        "cleanPodPolicy": "All",
        "backoffLimit": 3,
        "activeDeadlineSeconds": 7200,
        "suspend": True,
    }


@pytest.mark.parametrize(("said", "written"), [("Default", ""), ("AllWorkers", "AllWorkers")])
def test_the_success_policy(said: str, written: str) -> None:
    job = {"worker": {"replicas": 2}, "successPolicy": said}
    assert tfjob(job)["spec"]["successPolicy"] == written


def test_gangs_of_the_operator() -> None:
    job = {**FULL, "scheduling": {"gang": "volcano", "queue": "q", "priorityClass": "high"}}
    policy = tfjob(job, operator=VOLCANO)["spec"]["runPolicy"]["schedulingPolicy"]
    assert policy == {"minAvailable": 6, "queue": "q", "priorityClass": "high"}
    plugins = {**FULL, "scheduling": {"gang": "scheduler-plugins", "minAvailable": 3}}
    policy = tfjob(plugins, operator={"gangScheduler": "co"})["spec"]["runPolicy"]
    assert policy["schedulingPolicy"] == {"minAvailable": 3}


def test_gangs_of_ACK() -> None:
    manifest = tfjob({**FULL, "scheduling": {"gang": "pod-labels"}})
    assert "schedulingPolicy" not in manifest["spec"]["runPolicy"]
    for spec in manifest["spec"]["tfReplicaSpecs"].values():
        labels = spec["template"]["metadata"]["labels"]
        assert labels["pod-group.scheduling.sigs.k8s.io/name"] == "m"
        assert labels["pod-group.scheduling.sigs.k8s.io/min-available"] == "6"


def test_arena_finds_the_job_and_its_pods() -> None:
    manifest = tfjob({**FULL, "worker": {"replicas": 2, "gpus": 4}})
    arena = {"app": "tfjob", "release": "m", "createdBy": "TFJob"}
    assert arena.items() <= manifest["metadata"]["labels"].items()
    for spec in manifest["spec"]["tfReplicaSpecs"].values():
        assert arena.items() <= spec["template"]["metadata"]["labels"].items()
        assert spec["template"]["metadata"]["annotations"]["requestGPUsOfJobOwner"] == "8"


# Of each setting, a job and another one that differs in nothing else.
OTHER: dict[str, Any] = {
    "program": None,
    "command": ["python", "own.py"],
    "image": "example.com/train:2",
    "imagePullPolicy": "Always",
    "imagePullSecrets": ["own"],
    "args": ["--steps=3"],
    "env": {"A": "b"},
    "volumes": {"team": {"claim": "team", "mountPath": "/mnt/team"}},
    "scheduling": {"priorityClass": "high"},
    "chief": {},
    "master": {},
    "worker": {"replicas": 3},
    "ps": {},
    "evaluator": {},
    "deadline": "3h",
    "backoffLimit": 4,
    "cleanPodPolicy": "None",
    "successPolicy": "AllWorkers",
    "run": 2,
    "directory": "elsewhere",
    "export": {},
    "startTimeout": "9m",
}
NOT_OF_A_POD = {
    "strategy": "what the roles mean, and TF_CONFIG says them",
    "suspend": "changes in place",
    "serve": "another resource",
    "wait": "of up, not of the job",
    "waitTimeout": "of up, not of the job",
}


def base(key: str) -> dict[str, Any]:
    return {"chief": {}, "worker": {"replicas": 2}} if key == "ps" else {"worker": {"replicas": 2}}


def test_every_setting_of_a_job_is_looked_at() -> None:
    assert OTHER.keys() | NOT_OF_A_POD.keys() == Job.settings().keys()
    assert OTHER.keys().isdisjoint(NOT_OF_A_POD)


@pytest.mark.parametrize("key", [key for key in OTHER if key != "program"])
def test_every_setting_of_a_job_makes_it_another(key: str) -> None:
    before, after = tfjob(base(key)), tfjob({**base(key), key: OTHER[key]})
    assert generation_of(before) != generation_of(after)
    assert before["spec"] != after["spec"]


@pytest.mark.parametrize(
    "change",
    [
        {"suspend": True},
        {"wait": "succeeded"},
        {"waitTimeout": "1h"},
        {"strategy": "multiWorkerMirrored"},
    ],
    ids=str,
)
def test_what_is_none_of_a_pod_leaves_it_the_same(change: dict[str, Any]) -> None:
    job = {"worker": {"replicas": 2}}
    assert generation_of(tfjob(job)) == generation_of(tfjob({**job, **change}))


def test_suspending_changes_nothing_else() -> None:
    before, after = tfjob(FULL), tfjob({**FULL, "suspend": True})
    after["spec"]["runPolicy"]["suspend"] = False
    assert before == after


OF_A_ROLE: dict[str, Any] = {
    "replicas": 3,
    "gpus": 1,
    "cpu": 3,
    "memory": "3Gi",
    "cpuLimit": 4,
    "memoryLimit": "4Gi",
    "shm": "512Mi",
    "nodePool": "a10",
    "tolerations": [{"operator": "Exists"}],
    "restartPolicy": "Never",
}


def test_every_setting_of_a_role_is_looked_at() -> None:
    assert OF_A_ROLE.keys() == Replicas.settings().keys()


@pytest.mark.parametrize("key", OF_A_ROLE)
def test_every_setting_of_a_role_makes_the_job_another(key: str) -> None:
    role = {"replicas": 2, "cpu": 2, "memory": "2Gi"}
    before = tfjob({"worker": role}, nodePools=POOLS)
    after = tfjob({"worker": {**role, key: OF_A_ROLE[key]}}, nodePools=POOLS)
    assert generation_of(before) != generation_of(after)


def test_every_setting_of_the_scheduling_makes_the_job_another() -> None:
    full = {"gang": "volcano", "minAvailable": 1, "queue": "q", "priorityClass": "high"}
    assert full.keys() == Scheduling.settings().keys()
    seen = {generation_of(tfjob({**FULL, "scheduling": full}, operator=VOLCANO))}
    for change in ({"minAvailable": 2}, {"queue": "r"}, {"priorityClass": "low"}):
        job = {**FULL, "scheduling": {**full, **change}}
        seen.add(generation_of(tfjob(job, operator=VOLCANO)))
    assert len(seen) == 4


def test_the_job_and_its_pods_carry_the_generation() -> None:
    manifest = tfjob(FULL)
    generation = manifest["metadata"]["annotations"][GENERATION]
    assert generation == generation_of(manifest)
    for spec in manifest["spec"]["tfReplicaSpecs"].values():
        assert spec["template"]["metadata"]["annotations"][GENERATION] == generation


def test_it_is_equal_for_equal_jobs() -> None:
    assert tfjob(FULL) == tfjob(dict(reversed(FULL.items())))
