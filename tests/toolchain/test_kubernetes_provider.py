"""The plugin for Kubernetes that set-up brought, with the Python package and the engine of this
checkout. tests/cluster has it work on a cluster."""

from pathlib import Path

import pytest

from tests.toolchain.small_project import Project
from toolchain.ready import plugin_folder

# Nothing listens at port 1.
PROGRAM = """
import json, pulumi
from pulumi_kubernetes import Provider
from pulumi_kubernetes.core.v1 import ConfigMap

server = {"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}
context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
user = {"name": "u", "user": {"token": "t"}}
provider = Provider("p", kubeconfig=json.dumps({
    "apiVersion": "v1", "kind": "Config", "current-context": "c",
    "clusters": [server], "contexts": [context], "users": [user],
}), upsert_existing_objects=True)
options = pulumi.ResourceOptions(provider=provider)
ConfigMap("m", metadata={"name": "m", "namespace": "default"}, data={"a": "b"}, opts=options)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.environment["PULUMI_HOME"] = str(plugin_folder().parent.parent)
    (made.folder / "__main__.py").write_text(PROGRAM)
    assert made.pulumi("stack", "init", "dev").returncode == 0
    return made


def test_a_preview_needs_no_cluster_and_warns_of_nothing(project: Project) -> None:
    ran = project.pulumi("preview")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "kubernetes:core/v1:ConfigMap m create" in ran.stdout
    assert "warning" not in ran.stdout + ran.stderr


def test_an_up_tells_that_the_cluster_is_unreachable(project: Project) -> None:
    ran = project.pulumi("up", "--yes", "--skip-preview")
    assert ran.returncode != 0
    assert "configured Kubernetes cluster is unreachable" in ran.stdout
