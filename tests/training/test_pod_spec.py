"""The pods of a job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from config import parse
from config.secrets import SecretMarks
from tests.training.cluster_stacks import CODE, PROGRAM, container, environment, pod, tfjob
from training.tfjob_spec import tfjob_spec
from workloads.images import default_image

POOLS: dict[str, Any] = {
    "a10": {
        "selector": {"pool": "a10", "zone": ["a", "b"]},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "spot": True,
    },
    "plain": {"selector": {"pool": "plain"}},
    "zones": {"selector": {"zone": ["a", "b"]}},
}


def test_gpu_and_cpu_replicas_of_one_job() -> None:
    """GPU replicas get the GPU image, NCCL and memory growth; CPU ones the CPU image."""
    job = {"chief": {"cpu": 2}, "worker": {"gpus": 2, "memory": "20Gi"}, "ps": {}}
    worker, ps = container(job), container(job, "PS")
    assert worker["image"] == default_image(1, None)
    assert ps["image"] == default_image(0, None)
    assert worker["image"] != ps["image"]
    assert worker["resources"] == {
        "requests": {"memory": "20Gi", "nvidia.com/gpu": "2"},
        "limits": {"memory": "20Gi", "nvidia.com/gpu": "2"},
    }
    assert "resources" not in ps
    gpu, cpu = environment(job), environment(job, "PS")
    assert gpu["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert gpu["NCCL_DEBUG"] == "WARN"
    assert "NVIDIA_VISIBLE_DEVICES" not in gpu
    # A CPU image must not see a GPU node's GPUs.
    assert cpu["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert not {"TF_FORCE_GPU_ALLOW_GROWTH", "NCCL_DEBUG"} & cpu.keys()


def test_requests_and_limits() -> None:
    job = {"worker": {"cpu": "500m", "memory": "2Gi", "cpuLimit": 2, "memoryLimit": "4Gi"}}
    assert container(job)["resources"] == {
        "requests": {"cpu": "500m", "memory": "2Gi"},
        "limits": {"cpu": "2", "memory": "4Gi"},
    }
    assert container({"worker": {"cpu": 1, "memory": "1Gi"}})["resources"] == {
        "requests": {"cpu": "1", "memory": "1Gi"},
        "limits": {"cpu": "1", "memory": "1Gi"},
    }


def test_a_node_pool_of_one_label_is_a_selector() -> None:
    found = pod({"worker": {"nodePool": "plain"}}, nodePools=POOLS)
    assert found["nodeSelector"] == {"pool": "plain"}
    assert not {"affinity", "tolerations"} & found.keys()


def test_a_node_pool_of_several_values_is_an_affinity() -> None:
    found = pod({"worker": {"nodePool": "zones"}}, nodePools=POOLS)
    assert "nodeSelector" not in found
    required = found["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}
    ]


def test_taints_of_the_pool_of_spot_nodes_and_of_the_role_are_tolerated() -> None:
    role = {"nodePool": "a10", "tolerations": [{"key": "a", "value": "b", "effect": "NoExecute"}]}
    found = pod({"worker": role}, nodePools=POOLS)
    assert found["nodeSelector"] == {"pool": "a10"}
    assert found["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {
            "key": "cloud.google.com/gke-spot",
            "operator": "Equal",
            "value": "true",
            "effect": "NoSchedule",
        },
        {
            "key": "kubernetes.azure.com/scalesetpriority",
            "operator": "Equal",
            "value": "spot",
            "effect": "NoSchedule",
        },
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute"},
    ]


@pytest.mark.parametrize(
    ("role", "size"),
    [
        ({}, "2Gi"),
        ({"memory": "20Gi"}, "2Gi"),
        ({"memory": "1Gi"}, "512Mi"),
        ({"memory": "1Gi", "memoryLimit": "8Gi"}, "2Gi"),
        ({"memory": "20Gi", "shm": "8Gi"}, "8Gi"),
    ],
    ids=str,
)
def test_shared_memory_is_never_the_64_MB_of_the_default(role: dict[str, Any], size: str) -> None:
    found = pod({"worker": role})
    volumes = {volume["name"]: volume for volume in found["volumes"]}
    assert volumes["shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": size}
    mounts = {mount["mountPath"]: mount["name"] for mount in found["containers"][0]["volumeMounts"]}
    assert mounts["/dev/shm"] == "shm"


def test_a_pod_sees_its_own_folder_and_the_datasets_to_read() -> None:
    found = container({"worker": {}, "directory": "team/m"})
    mounts = {mount["mountPath"]: mount for mount in found["volumeMounts"]}
    assert mounts["/training/team/m"] == {
        "name": "shared",
        "mountPath": "/training/team/m",
        "subPath": "team/m",
    }
    assert mounts["/training/datasets"]["readOnly"] is True
    assert sorted(path for path in mounts if path.startswith("/training")) == [
        "/training/datasets",
        "/training/team/m",
    ]
    variables = environment({"worker": {}, "directory": "team/m"})
    assert variables["ACK_TRAINING_JOB_DIR"] == "/training/team/m"
    assert variables["ACK_TRAINING_DATASETS_DIR"] == "/training/datasets"


def test_pods_pass_the_restricted_standard() -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted"""
    for image in ({}, {"image": "example.com/own:1"}):
        found = pod({"worker": {}, **image}, kubernetes={"context": "a", "runAsUser": 7})
        assert found["automountServiceAccountToken"] is False
        assert found["securityContext"]["runAsNonRoot"] is True
        assert found["securityContext"]["runAsUser"] == 7
        assert found["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (one,) = found["containers"]
        assert one["securityContext"]["allowPrivilegeEscalation"] is False
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & found.keys()
        assert not any("hostPath" in volume for volume in found["volumes"])
    assert container({"worker": {}})["securityContext"]["readOnlyRootFilesystem"] is True
    own = container({"worker": {}, "image": "example.com/own:1"})
    assert own["securityContext"]["readOnlyRootFilesystem"] is False


def test_the_program_runs_under_the_runtime() -> None:
    found = container({"worker": {}, "args": ["--steps=3", "$(HOME)", "$$ $x"]})
    assert found["command"] == [
        *("python", "-m", "runtime", f"/opt/ack-training/code/{PROGRAM}"),
        "--steps=3",
        # Not the kubelet's to read.
        "$$(HOME)",
        "$$$$ $$x",
    ]
    assert found["workingDir"] == "/opt/ack-training/code"
    variables = environment({"worker": {}, "env": {"PYTHONPATH": "/own", "B": "$(A)"}})
    assert variables["PYTHONPATH"] == "/opt/ack-training/runtime.zip:/own"
    assert variables["B"] == "$$(A)"


def test_a_command_runs_as_it_is() -> None:
    found = container({"worker": {}, "command": ["sh", "-c"], "args": ["true"], "image": "own:1"})
    assert found["command"] == ["sh", "-c", "true"]
    assert "workingDir" not in found
    assert not {"code", "runtime"} & {mount["name"] for mount in found["volumeMounts"]}
    assert "PYTHONPATH" not in environment({"worker": {}, "command": ["sh"], "image": "own:1"})


def test_the_registry_rewrites_every_image() -> None:
    registry = "registry.example.com/team"
    own = container({"worker": {}}, imageRegistry=registry)["image"]
    assert own == default_image(0, registry)
    assert own.startswith(f"{registry}/")
    other = container({"worker": {}, "image": "ghcr.io/a/b:1"}, imageRegistry=registry)
    assert other["image"] == f"{registry}/b:1"


def test_pulling() -> None:
    job = {"worker": {}, "imagePullPolicy": "Always", "imagePullSecrets": ["own", "all"]}
    found = pod(job, imagePullSecrets=["all"])
    assert found["imagePullSecrets"] == [{"name": "all"}, {"name": "own"}]
    assert found["containers"][0]["imagePullPolicy"] == "Always"


def test_priority_and_volumes() -> None:
    job = {
        "worker": {},
        "scheduling": {"priorityClass": "high"},
        "volumes": {
            "team": {"claim": "team", "mountPath": "/mnt/team"},
            "keys": {"secret": "keys", "mountPath": "/mnt/keys"},
            "ca": {"configMap": "ca", "mountPath": "/mnt/ca"},
            "old": {"claim": "old", "mountPath": "/mnt/old", "readOnly": True},
        },
    }
    found = pod(job)
    assert found["priorityClassName"] == "high"
    volumes = {volume["name"]: volume for volume in found["volumes"]}
    assert volumes["team"]["persistentVolumeClaim"] == {"claimName": "team"}
    assert volumes["keys"]["secret"] == {"secretName": "keys"}
    assert volumes["ca"]["configMap"] == {"name": "ca"}
    mounts = {mount["name"]: mount for mount in found["containers"][0]["volumeMounts"]}
    assert {name: mounts[name].get("readOnly", False) for name in job["volumes"]} == {  # type: ignore[attr-defined]
        "team": False,
        "keys": True,
        "ca": True,
        "old": True,
    }


def test_secrets_are_referred_to_and_never_written() -> None:
    secret = "correct-horse-battery-staple"
    stack = parse(
        {
            "target": "kubernetes",
            "kubernetes": {"context": "a"},
            "storage": {"claim": "data"},
            "jobs": {
                "m": {
                    "program": PROGRAM,
                    "worker": {},
                    "env": {
                        "TOKEN": secret,
                        "OTHER": {"secretKeyRef": {"name": "credentials", "key": "token"}},
                    },
                }
            },
        },
        marks=SecretMarks(leaves=frozenset({("jobs", "m", "env", "TOKEN")})),
    )
    manifest = tfjob_spec(stack, stack.jobs["m"], CODE, "m-env-1")
    assert secret not in json.dumps(manifest)
    (one,) = manifest["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    references = {v["name"]: v["valueFrom"] for v in one["env"] if "valueFrom" in v}
    assert references == {
        "TOKEN": {"secretKeyRef": {"name": "m-env-1", "key": "TOKEN"}},
        "OTHER": {"secretKeyRef": {"name": "credentials", "key": "token"}},
    }


def test_environment_is_sorted() -> None:
    names = list(environment({"worker": {}, "env": {"ZZ": "1", "AA": "2"}}))
    assert names == sorted(names)


def test_no_replica_is_given_the_rights_of_another_stack() -> None:
    text = json.dumps(tfjob({"worker": {}}))
    assert "serviceAccountName" not in text
