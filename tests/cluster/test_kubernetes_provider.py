"""Pulumi's plugin for Kubernetes, as set-up brought it, on a real cluster."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.handle import Cluster
from tests.toolchain.small_project import Project
from toolchain.operator_manifests import operator_manifests
from toolchain.ready import plugin_folder

PROGRAM = """
import json, pulumi
from pathlib import Path
from pulumi_kubernetes import Provider
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace

given = json.loads(Path("given.json").read_text())
provider = Provider("p", kubeconfig=given["kubeconfig"], upsert_existing_objects=True)
options = pulumi.ResourceOptions(provider=provider)
namespace = Namespace("n", metadata={"name": given["namespace"]}, opts=options)
inside = {"name": "m", "namespace": namespace.metadata["name"]}
ConfigMap("m", metadata=inside, data=given["data"], opts=options)
pulumi.CustomResource(
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
    "d",
    given["definition"],
    pulumi.ResourceOptions(provider=provider, retain_on_delete=True),
)
"""


class Objects:
    """A project whose stack has a namespace with a ConfigMap, and TFJob's definition."""

    def __init__(self, cluster: Cluster, project: Project, namespace: str) -> None:
        self._cluster = cluster
        self._project = project
        self.namespace = namespace
        (project.folder / "__main__.py").write_text(PROGRAM)

    def declare(self, data: dict[str, str]) -> None:
        definition = operator_manifests("dev") / "base/crds/kubeflow.org_tfjobs.yaml"
        given = {
            "kubeconfig": str(self._cluster.kubeconfig),
            "namespace": self.namespace,
            "data": data,
            "definition": yaml.safe_load(definition.read_text()),
        }
        (self._project.folder / "given.json").write_text(json.dumps(given))

    def pulumi(self, *arguments: str) -> str:
        ran = self._project.pulumi(*arguments)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "warning" not in ran.stdout + ran.stderr
        return ran.stdout

    def data(self) -> dict[str, str]:
        found: dict[str, str] = self._cluster.get("configmap", "m", "-n", self.namespace)["data"]
        return found


@pytest.fixture
def objects(cluster: Cluster, tmp_path: Path) -> Iterator[Objects]:
    project = Project(tmp_path)
    project.environment["PULUMI_HOME"] = str(plugin_folder().parent.parent)
    made = Objects(cluster, project, f"ack-training-test-{secrets.token_hex(4)}")
    made.pulumi("stack", "init", "dev")
    yield made
    cluster.kubectl("delete", "--ignore-not-found", "crd/tfjobs.kubeflow.org")
    cluster.kubectl("delete", "--ignore-not-found", f"ns/{made.namespace}", "--wait=false")


def test_objects_are_made_kept_and_removed(cluster: Cluster, objects: Objects) -> None:
    objects.declare({"a": "1"})
    assert "+ 5 created" in objects.pulumi("up", "--yes", "--skip-preview")
    assert objects.data() == {"a": "1"}
    objects.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
    objects.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    objects.declare({"a": "2"})
    objects.pulumi("up", "--yes", "--skip-preview")
    assert objects.data() == {"a": "2"}
    objects.pulumi("destroy", "--yes", "--skip-preview")
    assert cluster.run("get", f"ns/{objects.namespace}").returncode != 0
    assert cluster.get("crd/tfjobs.kubeflow.org")["spec"]["group"] == "kubeflow.org"


def test_what_is_there_already_is_taken_over(cluster: Cluster, objects: Objects) -> None:
    """As is what an earlier destroy left."""
    cluster.kubectl("create", "namespace", objects.namespace)
    cluster.kubectl("create", "configmap", "m", "-n", objects.namespace, "--from-literal=a=1")
    objects.declare({"a": "1"})
    objects.pulumi("up", "--yes", "--skip-preview")
    objects.pulumi("destroy", "--yes", "--skip-preview")
    objects.pulumi("up", "--yes", "--skip-preview")
    assert objects.data() == {"a": "1"}
