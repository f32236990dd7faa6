"""The training operator in a cluster of the tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cluster.handle import Cluster
from toolchain.cluster.stock_images import TRAINING_OPERATOR, training_operator_archive
from toolchain.operator_manifests import ensure_operator_manifests
from toolchain.operator_manifests import operator_manifests as released_manifests
from workloads.operator_manifests import operator_manifests

NAMESPACE = "kubeflow"
_CRD = "crd/tfjobs.kubeflow.org"


def ensure_operator(cluster: Cluster, folder: Path) -> None:
    """Afterwards the cluster's operator and its webhook answer. One of a given cluster is taken as
    it is. `folder` is for files."""
    if cluster.place is None:
        if cluster.run("get", _CRD).returncode:
            pytest.skip("the given cluster has no training operator")
        return
    cluster.import_image(training_operator_archive(folder / "operator.tar"), [TRAINING_OPERATOR])
    ensure_operator_manifests()
    manifests = operator_manifests(
        released_manifests("local"),
        namespace=NAMESPACE,
        image=lambda name: name,
        gang_scheduler=None,
    )
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    for items in ([namespace], manifests):
        together = {"apiVersion": "v1", "kind": "List", "items": items}
        cluster.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(together))
    available = "--for=condition=Available"
    cluster.kubectl(
        "wait", "-n", NAMESPACE, "deployment/training-operator", available, "--timeout=180s"
    )
