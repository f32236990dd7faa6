"""Where replicas land: node pools, taints and GPUs, on nodes that kwok simulates."""

import secrets
from typing import Any

from tests.cluster.stacks import ClusterStack, sentences
from toolchain.cluster.simulated_nodes import RESERVED, NodeShape

_GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def gpu_pool(stack: ClusterStack) -> tuple[str, dict[str, Any]]:
    """Two simulated nodes of two GPUs each, tainted as clouds do, and the pool that names them."""
    label = f"gpu-{secrets.token_hex(3)}"
    shape = NodeShape(8, "64Gi", gpus=2, labels={"pool": label}, taints=(RESERVED, _GPU_TAINT))
    stack.cluster.add_nodes(label, 2, shape)
    return label, {
        "selector": {"pool": [label, "another"]},
        "tolerations": [
            {"key": RESERVED["key"], "operator": "Exists", "effect": "NoSchedule"},
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        ],
        "max": 2,
        "gpus": 2,
    }


def test_GPU_replicas_run_on_their_pool_and_others_elsewhere(stack: ClusterStack) -> None:
    label, pool = gpu_pool(stack)
    job = {
        "program": "training/programs/mnist.py",
        "chief": {},
        "worker": {"replicas": 4, "gpus": 1, "cpu": 1, "memory": "4Gi", "nodePool": "a10"},
        "wait": "submitted",
    }
    try:
        stack.configure(nodePools={"a10": pool}, jobs={"m": {**job, "suspend": False}})
        up = stack.workspace.up()
        assert up.code == 0, up
        stack.kubectl(
            "wait",
            "--for=jsonpath={.status.phase}=Running",
            "pod",
            "-l",
            "training.kubeflow.org/replica-type=worker",
            "--timeout=120s",
        )
        nodes = {
            name: pod["spec"]["nodeName"]
            for name, pod in stack.pods("m").items()
            if "-worker-" in name
        }
        assert sorted(set(nodes.values())) == [f"{label}-0", f"{label}-1"]
        assert sorted(nodes.values()).count(f"{label}-0") == 2
        chief = stack.pods("m")["m-chief-0"]
        assert not chief["spec"].get("nodeName", "").startswith(label)
    finally:
        stack.workspace.destroy()
        stack.cluster.kubectl("delete", "node", "-l", f"pool={label}")


def test_what_fits_nowhere_now_is_told_by_the_schedulers_word(stack: ClusterStack) -> None:
    """Two jobs of three GPUs each for a pool of four: the preview says so, and the second `up`
    does not wait for ever."""
    label, pool = gpu_pool(stack)
    role = {"replicas": 3, "gpus": 1, "nodePool": "a10"}
    job = {"image": "any.local/image:1", "command": ["true"], "worker": role}
    try:
        stack.configure(nodePools={"a10": pool}, jobs={"a": job})
        first = stack.workspace.up()
        assert first.code == 0, first
        stack.configure(nodePools={"a10": pool}, jobs={"a": job, "b": job})
        second = stack.workspace.up()
        assert second.code != 0, second
        assert (
            "ack-training:nodePools.a10: a, b together ask for 6 GPUs, and its 2 nodes have 4 GPUs"
        ) in second.text
        text = sentences(second)
        assert "cannot be placed on a node" in text
        assert "Insufficient nvidia.com/gpu" in text
    finally:
        stack.workspace.destroy()
        stack.cluster.kubectl("delete", "node", "-l", f"pool={label}")
