"""Which cluster a stack goes to, and what is told when it cannot: one clear sentence each."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.handle import Cluster
from tests.cluster.stacks import (
    LONG,
    ClusterStack,
    exported_resources,
    shell_job,
    stack_on,
    summary,
)


def errors(text: str) -> list[str]:
    """Every line that tells an error of a resource, without the engine's own summing up."""
    lines = [line.split("error: ", 1)[1] for line in text.splitlines() if "error: " in line]
    engine = ("update failed", "preview failed", "1 error occurred", "destroy failed")
    return [line for line in dict.fromkeys(lines) if not line.startswith(engine)]


def unreachable(kubeconfig: Path, target: Path) -> Path:
    """The kubeconfig of a cluster at whose address nobody is."""
    document = yaml.safe_load(kubeconfig.read_text())
    for cluster in document["clusters"]:
        cluster["cluster"]["server"] = "https://127.0.0.1:1"
    target.write_text(yaml.safe_dump(document))
    return target


def test_a_cluster_that_does_not_answer(stack: ClusterStack, tmp_path: Path) -> None:
    """At preview, up and destroy, one sentence; and nothing of the state is lost."""
    job = shell_job(stack.cluster, LONG)
    stack.configure(jobs={"m": job})
    created = stack.workspace.up()
    assert created.code == 0, created
    before = {resource["urn"] for resource in exported_resources(stack)}
    gone = unreachable(stack.cluster.kubeconfig, tmp_path / "gone")
    stack.configure(jobs={"m": job}, kubernetes=stack.connection(kubeconfig=str(gone)))
    for command in (stack.workspace.preview, stack.workspace.up):
        refused = command()
        assert refused.code != 0
        assert "https://127.0.0.1:1" in refused.text, refused
        assert "refused" in refused.text
        assert "Traceback" not in refused.text
        assert "kubernetes:core/v1" not in "".join(errors(refused.text)), refused
    assert {resource["urn"] for resource in exported_resources(stack)} == before
    stack.configure(jobs={"m": job})


def test_a_destroy_of_a_cluster_that_does_not_answer(operated: Cluster, tmp_path: Path) -> None:
    copy = tmp_path / "kubeconfig"
    shutil.copy2(operated.kubeconfig, copy)
    with stack_on(operated, tmp_path / "project") as stack:
        stack.configure(
            jobs={"m": shell_job(operated, LONG)},
            kubernetes=stack.connection(kubeconfig=str(copy)),
        )
        created = stack.workspace.up()
        assert created.code == 0, created
        before = {resource["urn"] for resource in exported_resources(stack)}
        unreachable(operated.kubeconfig, copy)
        refused = stack.workspace.destroy()
        assert refused.code != 0
        assert "Nothing was deleted or forgotten: cluster " in refused.text, refused
        assert "PULUMI_K8S_DELETE_UNREACHABLE=true pulumi destroy" in refused.text
        assert {resource["urn"] for resource in exported_resources(stack)} == before
        # The cluster is gone for good: the documented way to forget what was on it.
        stack.workspace.environment["PULUMI_K8S_DELETE_UNREACHABLE"] = "true"
        forgotten = stack.workspace.destroy()
        assert forgotten.code == 0, forgotten
        assert exported_resources(stack) == []


def test_the_shell_does_not_choose_the_cluster(stack: ClusterStack, tmp_path: Path) -> None:
    """KUBECONFIG of the shell names another cluster; the stack's file names this one, or none."""
    other = unreachable(stack.cluster.kubeconfig, tmp_path / "other")
    stack.workspace.environment["KUBECONFIG"] = str(other)
    # Nor does the current-context of the file.
    mixed = yaml.safe_load(stack.cluster.kubeconfig.read_text())
    (context,) = mixed["contexts"]
    elsewhere = {"name": "elsewhere", "cluster": {"server": "https://127.0.0.1:1"}}
    mixed["clusters"].append(elsewhere)
    mixed["contexts"].append(
        {"name": "elsewhere", "context": {**context["context"], "cluster": "elsewhere"}}
    )
    mixed["current-context"] = "elsewhere"
    file = tmp_path / "mixed"
    file.write_text(yaml.safe_dump(mixed))
    named = stack.connection(kubeconfig=str(file), context=context["name"])
    stack.configure(jobs={}, kubernetes=named)
    created = stack.workspace.up()
    assert created.code == 0, created
    for wrong, told in (
        ({"kubeconfig": None}, "needs kubeconfig or context"),
        ({"kubeconfig": ""}, "must not be empty"),
        ({"kubeconfig": "absent"}, "no such file: 'absent'"),
        ({"context": "absent"}, "there is no context 'absent'"),
    ):
        stack.configure(jobs={}, kubernetes=stack.connection(**wrong))
        refused = stack.workspace.preview()
        assert refused.code != 0
        assert told in refused.text, refused
    stack.configure(jobs={})


def test_jobs_without_an_operator(cluster: Cluster, images: None, tmp_path: Path) -> None:
    if cluster.run("get", "crd", "tfjobs.kubeflow.org").returncode == 0:
        pytest.skip("this cluster has the TFJob definition already")
    with stack_on(cluster, tmp_path / "project") as stack:
        stack.configure(jobs={"m": shell_job(cluster, "true")})
        refused = stack.workspace.preview()
        assert refused.code != 0
        assert (
            "has no tfjobs.kubeflow.org: install the training operator, or set "
            "ack-training:operator.install to true"
        ) in refused.text


def test_a_definition_that_is_there_already(cluster: Cluster, images: None, tmp_path: Path) -> None:
    """Someone applied upstream's definition by hand: it is taken as it is, and outlives the
    stack."""
    if cluster.run("get", "crd", "tfjobs.kubeflow.org").returncode == 0:
        pytest.skip("this cluster has the TFJob definition already")
    from toolchain.operator_manifests import operator_manifests

    definition = operator_manifests("test") / "base/crds/kubeflow.org_tfjobs.yaml"
    cluster.kubectl("create", "-f", str(definition))
    try:
        with stack_on(cluster, tmp_path / "project") as stack:
            job = shell_job(cluster, "true", wait="succeeded")
            stack.configure(jobs={"m": job}, operator={"install": True})
            created = stack.workspace.up()
            assert created.code == 0, created
            again = stack.workspace.up()
            assert "change" not in summary(again).replace("unchanged", ""), again
            destroyed = stack.workspace.destroy()
            assert destroyed.code == 0, destroyed
            assert cluster.run("get", "crd", "tfjobs.kubeflow.org").returncode == 0
    finally:
        cluster.kubectl("delete", "crd", "tfjobs.kubeflow.org")


def test_a_user_without_rights(stack: ClusterStack) -> None:
    settings: dict[str, Any] = stack.connection(kubeconfig=str(stack.cluster.user("nobody")))
    stack.configure(jobs={"m": shell_job(stack.cluster, "true")}, kubernetes=settings)
    refused = stack.workspace.preview()
    assert refused.code != 0
    assert "does not allow its user to" in refused.text, refused
    assert "tfjobs.kubeflow.org" in refused.text
    stack.configure(jobs={})


def test_two_stacks_want_one_namespace(stack: ClusterStack, tmp_path: Path) -> None:
    stack.configure(jobs={})
    created = stack.workspace.up()
    assert created.code == 0, created
    with stack_on(stack.cluster, tmp_path / "other") as other:
        other.workspace.pulumi("stack", "rename", "other")
        other.configure(jobs={}, kubernetes=stack.connection())
        (other.workspace.path / "Pulumi.test.yaml").rename(
            other.workspace.path / "Pulumi.other.yaml"
        )
        refused = other.workspace.preview()
        assert refused.code != 0
        assert f"has Namespace {stack.namespace} already, and it is of stack" in refused.text
