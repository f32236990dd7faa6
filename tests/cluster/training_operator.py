"""The training operator in a cluster of the tests."""

import json
import subprocess
from pathlib import Path
from typing import Any, Protocol

import pytest

from toolchain.cluster.stock_images import TRAINING_OPERATOR, training_operator_archive
from toolchain.operator_manifests import ensure_operator_manifests, operator_manifests
from workloads.operator_manifests import operator_manifests as manifests_of

NAMESPACE = "kubeflow"


class _Cluster(Protocol):
    """What is asked here of the fixture `cluster`."""

    place: Any

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]: ...

    def kubectl(self, *arguments: str, stdin: str = "") -> str: ...

    def import_image(self, archive: Path, names: list[str]) -> None: ...


def ensure_operator(cluster: _Cluster, folder: Path) -> None:
    """Afterwards the operator answers; a given cluster must have one. `folder` is for its image."""
    if cluster.run("get", "crd", "tfjobs.kubeflow.org").returncode == 0:
        return
    if cluster.place is None:
        pytest.skip("not in a given cluster: it has no training operator")
    archive = training_operator_archive(folder / "training-operator.tar")
    cluster.import_image(archive, [TRAINING_OPERATOR])
    ensure_operator_manifests()
    manifests = manifests_of(
        operator_manifests("tests"),
        namespace=NAMESPACE,
        image=lambda name: name,
        gang_scheduler=None,
    )
    cluster.kubectl("create", "namespace", NAMESPACE)
    together = {"apiVersion": "v1", "kind": "List", "items": manifests}
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(together))
    cluster.kubectl(
        *("rollout", "status", "deployment/training-operator"),
        *("--namespace", NAMESPACE, "--timeout=180s"),
    )
