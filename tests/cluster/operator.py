"""Installs the training operator as this project's stacks do, with nothing but its manifests."""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.handle import Cluster
from toolchain.cluster.stock_images import TRAINING_OPERATOR, training_operator_archive
from toolchain.operator_manifests import operator_manifests as upstream
from workloads.operator_manifests import operator_manifests

_DEPLOYMENT = "deployment/training-operator"


class Operator:
    """A training operator that runs in `namespace`."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self.namespace = namespace

    def log(self) -> list[str]:
        return self._cluster.kubectl("logs", "-n", self.namespace, _DEPLOYMENT).splitlines()

    def refused(self) -> list[str]:
        """What its rights did not allow. (To create what belongs to a namespace that is being
        deleted is forbidden to all.)"""
        return [line for line in self.log() if "is forbidden: User" in line]

    def restarts(self) -> int:
        pods = self._cluster.get("pods", "-n", self.namespace)["items"]
        return sum(each["restartCount"] for pod in pods for each in _containers(pod))


def _containers(pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    statuses: list[dict[str, Any]] = pod["status"].get("containerStatuses", [])
    return statuses


@contextmanager
def installed(
    cluster: Cluster, folder: Path, gang_scheduler: str | None = None
) -> Iterator[Operator]:
    """An operator that is ready, in a namespace of its own that admits pods of the restricted
    standard alone; all of it is removed at the end. `folder` is for the image's archive."""
    cluster.import_image(training_operator_archive(folder / "operator.tar"), [TRAINING_OPERATOR])
    namespace = f"operator-{secrets.token_hex(4)}"
    manifests = operator_manifests(
        upstream("dev"),
        namespace=namespace,
        image=lambda image: image,
        gang_scheduler=gang_scheduler,
    )
    home = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": namespace,
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
        },
    }
    together = json.dumps({"apiVersion": "v1", "kind": "List", "items": [home, *manifests]})
    try:
        cluster.kubectl("apply", "--server-side", "-f", "-", stdin=together)
        cluster.kubectl("rollout", "status", "-n", namespace, _DEPLOYMENT, "--timeout=180s")
        yield Operator(cluster, namespace)
    finally:
        cluster.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=together)
