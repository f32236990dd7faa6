"""Stacks on a cluster for tests of specs."""

from __future__ import annotations

from typing import Any

from config import Job, Stack, parse
from training.pod_volumes import Code
from training.tfjob_spec import tfjob_spec
from workloads.pods import Manifest

PROGRAM = "training/programs/mnist.py"
CODE = Code("m-code-0123456789", {PROGRAM: b"", "training/programs/mnist_files.py": b""})


def stack_of(job: dict[str, Any], **sections: Any) -> Stack:
    """A stack of one job, called m."""
    base: dict[str, Any] = {
        "target": "kubernetes",
        "kubernetes": {"context": "test"},
        "storage": {"claim": "data"},
        "jobs": {"m": {"program": PROGRAM, **job}},
    }
    if "command" in job:
        del base["jobs"]["m"]["program"]
    return parse({**base, **sections})


def job_of(job: dict[str, Any]) -> Job:
    return stack_of(job).jobs["m"]


def tfjob(job: dict[str, Any], **sections: Any) -> Manifest:
    """The TFJob of a stack's one job."""
    stack = stack_of(job, **sections)
    return tfjob_spec(stack, stack.jobs["m"], None if "command" in job else CODE, "m-env-1")


def pod(job: dict[str, Any], replica_type: str = "Worker", **sections: Any) -> Manifest:
    """The spec of the pods of one role."""
    replicas = tfjob(job, **sections)["spec"]["tfReplicaSpecs"][replica_type]
    found: Manifest = replicas["template"]["spec"]
    return found


def container(job: dict[str, Any], replica_type: str = "Worker", **sections: Any) -> Manifest:
    """The one container of these pods."""
    (found,) = pod(job, replica_type, **sections)["containers"]
    return dict(found)


def environment(job: dict[str, Any], replica_type: str = "Worker", **sections: Any) -> Manifest:
    """name → value, or where a Secret has it."""
    return {
        variable["name"]: variable.get("value", variable.get("valueFrom"))
        for variable in container(job, replica_type, **sections)["env"]
    }
