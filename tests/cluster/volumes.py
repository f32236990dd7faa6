"""A folder of the node as the shared volume of a namespace, and where data for it comes from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.stack import Stack
from tests.cluster.handle import Cluster
from tests.cluster.pods import pod
from tests.cluster.waiting import until
from tests.workloads.clusters import OWNER, cluster_stack
from workloads.pods import Manifest
from workloads.shared_storage_spec import claim_spec, persistent_volume_spec, volume_name
from workloads.volume_job_spec import volume_job_spec
from workloads.volume_program import volume_scripts

WORDS = b"words\n"
JOBS = {
    name: {"command": ["a"], "image": "example.com/a:1", "worker": {}, "directory": directory}
    for name, directory in (("a", "a"), ("b", "team/b"))
}


@dataclass
class Volume:
    """A folder of the node as the volume of a namespace that enforces `security`."""

    cluster: Cluster
    namespace: str
    security: str
    folder: Path

    def stack(self, **settings: Any) -> Stack:
        return cluster_stack(
            kubernetes={"namespace": self.namespace, "podSecurity": self.security},
            storage={"hostPath": str(self.folder)},
            **settings,
        )

    def make(self) -> None:
        """The namespace, the claim and the program's files are there afterwards."""
        stack = self.stack()
        labels = {"pod-security.kubernetes.io/enforce": self.security}
        self.cluster.apply(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": self.namespace, "labels": labels},
            },
            persistent_volume_spec(stack) or {},
            claim_spec(stack) or {},
            volume_scripts().config_map_spec(self.namespace),
        )

    def remove(self) -> None:
        self.cluster.kubectl("delete", "namespace", self.namespace, "--wait=false")
        name = volume_name(self.stack())
        self.cluster.kubectl("delete", "persistentvolume", name, "--wait=false")

    def run(self, *jobs: Manifest) -> list[tuple[str, str]]:
        """Of each Job, which is run anew, how it ended and what its container said."""
        names = [job["metadata"]["name"] for job in jobs]
        at = f"--namespace={self.namespace}"
        self.cluster.kubectl("delete", "job", *names, at, "--ignore-not-found")
        self.cluster.apply(*jobs)
        until(lambda: all(self._end(name) for name in names), 300)
        return [(self._end(name), self._said(name)) for name in names]

    def prepare(self, owner: str = OWNER) -> tuple[str, str]:
        (ended,) = self.run(volume_job_spec(self.stack(jobs=JOBS), owner))
        return ended

    def _end(self, name: str) -> str:
        job = self.cluster.get("job", name, f"--namespace={self.namespace}")
        for condition in job["status"].get("conditions", []):
            if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
                return str(condition["reason"])
        return ""

    def _said(self, name: str) -> str:
        selector = f"--selector=batch.kubernetes.io/job-name={name}"
        (found,) = self.cluster.get("pods", selector, f"--namespace={self.namespace}")["items"]
        (container,) = found["status"]["containerStatuses"]
        return str(container["state"]["terminated"].get("message", ""))


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def web(cluster: Cluster, namespace: str) -> str:
    """The URL of a file that a pod of the namespace serves."""
    script = (
        "mkdir -p /tmp/www; echo words >/tmp/www/words.txt; "
        "exec busybox httpd -f -p 8080 -h /tmp/www"
    )
    security = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    mount = {"name": "tmp", "mountPath": "/tmp"}
    container = {"securityContext": security, "volumeMounts": [mount]}
    volumes = [{"name": "tmp", "emptyDir": {}}]
    cluster.apply(
        pod(
            namespace,
            "web",
            cluster.busybox,
            script,
            container=container,
            spec={"volumes": volumes},
        )
    )
    at = f"--namespace={namespace}"
    cluster.kubectl("wait", "--for=condition=Ready", "pod/web", at, "--timeout=120s")
    address = cluster.get("pod", "web", at)["status"]["podIP"]
    return f"http://{address}:8080/words.txt"


def another_claim(namespace: str, folder: Path) -> tuple[Manifest, Manifest]:
    """A claim `old` of the namespace on a folder of the node, and its volume."""
    shared = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    name = f"{namespace}-old"
    return (
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                **shared,
                "capacity": {"storage": "1Gi"},
                "claimRef": {"namespace": namespace, "name": "old"},
                "hostPath": {"path": str(folder)},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "old", "namespace": namespace},
            "spec": {
                **shared,
                "volumeName": name,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
