"""Stacks of the project on the tests' cluster, driven by the real `pulumi` command."""

import json
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.handle import Cluster
from tests.engine.workspace import Result, Workspace

__all__ = ["LONG", "OWN_VOLUME", "ClusterStack", "Result", "shell_job", "stack_on"]

LONG = "trap 'exit 143' TERM; sleep 100000 & wait"
"""A script that ends only when it is told to, and then at once: a shell that is a container's first
process heeds no signal that it does not trap."""

_USER = 1000
OWN_VOLUME = "/var/lib/ack-training-test"
"""Below it, on a node that is this machine, each stack has a folder of its own."""


@dataclass
class ClusterStack:
    """A stack whose folder, namespace and volume nothing else uses."""

    cluster: Cluster
    workspace: Workspace
    namespace: str
    volume: Path

    def configure(self, **sections: Any) -> None:
        """Writes the stack's file, with what is the same for all tests where `sections` has no
        other."""
        base: dict[str, Any] = {
            "target": "kubernetes",
            "kubernetes": self.connection(),
            "storage": {"hostPath": str(self.volume)},
            "operator": {"install": False},
            "tensorboard": {"enabled": False},
            "datasets": {},
        }
        self.workspace.configure({**base, **sections})

    def connection(self, **settings: Any) -> dict[str, Any]:
        """The `kubernetes` section."""
        named = {"kubeconfig": str(self.cluster.kubeconfig), "namespace": self.namespace}
        return {**named, **settings}

    def kubectl(self, *arguments: str) -> str:
        return self.cluster.kubectl("--namespace", self.namespace, *arguments)

    def get(self, *arguments: str) -> dict[str, Any]:
        return self.cluster.get("--namespace", self.namespace, *arguments)

    def tfjob(self, name: str) -> dict[str, Any]:
        return self.get("tfjobs.kubeflow.org", name)

    def condition(self, name: str) -> str:
        """The newest condition of a TFJob that holds."""
        conditions = self.tfjob(name)["status"].get("conditions", [])
        return str([each["type"] for each in conditions if each["status"] == "True"][-1])

    def pods(self, job: str) -> dict[str, dict[str, Any]]:
        """The pods of a job by name."""
        label = f"training.kubeflow.org/job-name={job}"
        return {pod["metadata"]["name"]: pod for pod in self.get("pods", "-l", label)["items"]}

    def volumes(self) -> list[str]:
        """The PersistentVolumes that are for claims of the stack's namespace."""
        found = self.cluster.get("persistentvolumes")["items"]
        claims = [(pv["metadata"]["name"], pv["spec"].get("claimRef", {})) for pv in found]
        return [name for name, claim in claims if claim.get("namespace") == self.namespace]

    def log(self, pod: str) -> str:
        return self.kubectl("logs", pod)


@contextmanager
def stack_on(cluster: Cluster, folder: Path) -> Iterator[ClusterStack]:
    """A stack that is destroyed, with its namespace and data, at the end."""
    token = secrets.token_hex(3)
    volume = Path(OWN_VOLUME, token)
    if cluster.place is not None:
        # As an administrator of the node would prepare it for pods that are never root.
        volume.mkdir(parents=True)
        shutil.chown(volume, _USER, _USER)
    stack = ClusterStack(cluster, Workspace.create(folder), f"ack-training-test-{token}", volume)
    # What a user's shell points at must make no difference.
    stack.workspace.environment["KUBECONFIG"] = str(folder / "no-such-kubeconfig")
    try:
        yield stack
        destroyed = stack.workspace.destroy()
        assert destroyed.code == 0, destroyed
    finally:
        cluster.run("delete", "namespace", stack.namespace, "--ignore-not-found", "--wait=false")
        cluster.run("delete", "pv", *stack.volumes(), "--ignore-not-found", "--wait=false")
        if cluster.place is not None:
            shutil.rmtree(volume, ignore_errors=True)


def shell_job(cluster: Cluster, script: str, **settings: Any) -> dict[str, Any]:
    """A job whose replicas run a shell script instead of TensorFlow, for what needs no training."""
    job: dict[str, Any] = {"image": cluster.busybox, "command": ["sh", "-c", script]}
    roles = {"chief", "worker", "ps", "evaluator"} & settings.keys()
    return {**job, **({} if roles else {"chief": {}}), **settings}


def sentences(result: Result) -> str:
    """What a command told, without the colours and the progress of single resources."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", result.text)
    return text[text.find("Diagnostics:") :] if "Diagnostics:" in text else text


def summary(result: Result) -> str:
    """The counts at the end."""
    found = re.search(r"^Resources:\n((?:    .*\n)+)", result.text, re.MULTILINE)
    return "" if found is None else " ".join(found[1].split())


def exported_resources(stack: ClusterStack) -> list[Mapping[str, Any]]:
    """The resources in the stack's state."""
    state = json.loads(stack.workspace.exported())
    found: list[Mapping[str, Any]] = state["deployment"].get("resources", [])
    return found
