"""The Job that prepares the shared volume: what it may, what it is told, when it is another."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from config.stack import Stack
from tests.workloads.clusters import OWNER, cluster_stack
from tests.workloads.pod_security import baseline_faults, containers, restricted_faults
from workloads.images import default_image
from workloads.pods import SHARED_PATH
from workloads.shared_storage_spec import claim_name
from workloads.volume_job_spec import volume_job_spec

STORAGES: dict[str, dict[str, Any]] = {
    "nfs": {"nfs": {"server": "10.0.0.5", "path": "/exports"}},
    "hostPath": {"hostPath": "/srv/training"},
    "storageClass": {"storageClass": "fast", "size": "1Ti"},
    "claim": {"claim": "team-data"},
}


def job(name: str) -> dict[str, Any]:
    return {name: {"command": ["python", "a.py"], "image": "example.com/a:1", "worker": {}}}


def pod_of(stack: Stack) -> dict[str, Any]:
    pod: dict[str, Any] = volume_job_spec(stack, OWNER)["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("security", ["baseline", "restricted"])
def test_root_runs_only_where_the_kubelet_makes_the_folder_and_may_only_give_it_away(
    storage: str, security: str
) -> None:
    stack = cluster_stack(storage=STORAGES[storage], kubernetes={"podSecurity": security})
    pod = pod_of(stack)
    assert list(baseline_faults(pod)) == []
    if storage == "hostPath" and security == "baseline":
        (own,) = pod["initContainers"]
        assert list(restricted_faults({**pod, "initContainers": []})) == []
        context = own["securityContext"]
        assert context["capabilities"] == {"drop": ["ALL"], "add": ["CHOWN"]}
        assert (context["runAsUser"], context["runAsNonRoot"]) == (0, False)
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert own["command"][-2:] == ["--user=1000", "--group=1000"]
    else:
        assert list(restricted_faults(pod)) == []
        assert "initContainers" not in pod


def test_the_checks_of_these_tests_find_what_they_are_for() -> None:
    pod = pod_of(cluster_stack(storage=STORAGES["hostPath"]))
    assert list(restricted_faults(pod)) == ["own may be root", "own has capabilities"]
    pod["volumes"].append({"name": "host", "hostPath": {"path": "/"}})
    pod["initContainers"][0]["securityContext"]["capabilities"]["add"] = ["SYS_ADMIN"]
    assert list(baseline_faults(pod)) == ["hostPath volume host", "own adds capabilities"]


@pytest.mark.parametrize(
    ("storage", "told"),
    [
        ("nfs", ["--path=/exports", "--where=the NFS server 10.0.0.5"]),
        ("hostPath", ["--path=/srv/training", "--where=the node"]),
        ("storageClass", ["--path=/", "--where=the volume of claim {claim}"]),
        ("claim", ["--path=/", "--where=the volume of claim team-data"]),
    ],
)
def test_the_program_knows_where_the_user_finds_the_volume(storage: str, told: list[str]) -> None:
    jobs = job("b") | job("a")
    jobs["b"]["directory"] = "team/b"
    stack = cluster_stack(storage=STORAGES[storage], jobs=jobs)
    (prepare,) = pod_of(stack)["containers"]
    assert prepare["command"] == [
        *("python", "-m", "workloads.volume", "prepare", "--root=/training"),
        *(word.format(claim=claim_name(stack)) for word in told),
        "--owner=acme/training/dev",
        "--formerly=/owners/formerly",
        "--directory=a=a",
        "--directory=team/b=b",
    ]
    assert {"name": "shared", "mountPath": SHARED_PATH} in prepare["volumeMounts"]


def test_the_pod_runs_as_the_stacks_user_in_its_image_and_says_why_it_failed() -> None:
    stack = cluster_stack(
        kubernetes={"runAsUser": 2000, "runAsGroup": 3000, "namespace": "research"},
        imageRegistry="registry.example.com/team",
        imagePullSecrets=["registry"],
        storage=STORAGES["hostPath"],
    )
    spec = volume_job_spec(stack, OWNER)
    pod = spec["spec"]["template"]["spec"]
    assert spec["metadata"]["namespace"] == "research"
    assert pod["restartPolicy"] == "Never"
    assert pod["automountServiceAccountToken"] is False
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    security = pod["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"], security["fsGroup"]) == (
        2000,
        3000,
        3000,
    )
    for container in containers(pod):
        assert container["image"] == default_image(0, "registry.example.com/team")
        assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"
        assert set(container["resources"]) == {"requests", "limits"}
        environment = {entry["name"]: entry["value"] for entry in container["env"]}
        assert environment["MESSAGE_FILE"] == container["terminationMessagePath"]
    assert pod["initContainers"][0]["command"][-2:] == ["--user=2000", "--group=3000"]


def test_a_job_that_failed_is_told_at_once_and_made_again_by_the_next_up() -> None:
    spec = volume_job_spec(cluster_stack(), OWNER)
    assert spec["metadata"]["annotations"]["pulumi.com/replaceUnready"] == "true"
    deadline = spec["spec"]["activeDeadlineSeconds"]
    assert int(spec["metadata"]["annotations"]["pulumi.com/timeoutSeconds"]) > deadline
    assert spec["spec"]["backoffLimit"] == 0
    assert "ttlSecondsAfterFinished" not in spec["spec"]
    # Pulumi does not know the reason PodFailurePolicy, and would wait on.
    assert [rule["action"] for rule in spec["spec"]["podFailurePolicy"]["rules"]] == ["Ignore"]


def test_another_list_of_jobs_is_another_job_and_the_same_list_the_same() -> None:
    one = volume_job_spec(cluster_stack(jobs=job("a") | job("b")), OWNER)
    same = volume_job_spec(cluster_stack(jobs=job("b") | job("a")), OWNER)
    assert json.dumps(one) == json.dumps(same)
    names = {
        volume_job_spec(stack, owner)["metadata"]["name"]
        for stack, owner in [
            (cluster_stack(jobs=job("a") | job("b")), OWNER),
            (cluster_stack(jobs=job("a")), OWNER),
            (cluster_stack(), OWNER),
            (cluster_stack(), "acme/training/prod"),
            (cluster_stack(kubernetes={"runAsUser": 7}), OWNER),
            (cluster_stack(storage=STORAGES["claim"]), OWNER),
        ]
    }
    assert len(names) == 6
    assert all(re.fullmatch("volume-[0-9a-f]{10}", name) for name in names)
