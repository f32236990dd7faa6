"""What upstream's files of another version lack is told with the file's name."""

import shutil
from pathlib import Path

import pytest

from toolchain.operator_manifests import FILES
from toolchain.operator_manifests import operator_manifests as released
from workloads.operator_files import OperatorManifestsError
from workloads.operator_manifests import Manifest, operator_manifests

DEFINITION = "base/crds/kubeflow.org_tfjobs.yaml"
DEPLOYMENT = "base/deployment.yaml"
ROLE = "base/rbac/role.yaml"
WEBHOOKS = "base/webhook/manifests.yaml"
PATCH = "base/webhook/patch.yaml"
OVERLAY = "overlays/standalone/kustomization.yaml"
IMAGE = "ghcr.io/kubeflow/training-v1/training-operator"
CONTAINERS = "spec.template.spec.containers"
PODS = ", ".join(f"{verb} pods" for verb in ("get", "list", "watch", "create", "delete", "patch"))
TFJOBS = "validator.tfjob.training-operator.kubeflow.org"


@pytest.fixture
def given(tmp_path: Path) -> Path:
    return Path(shutil.copytree(released("dev"), tmp_path / "given"))


def made(folder: Path) -> list[Manifest]:
    return operator_manifests(
        folder, namespace="kubeflow", image=lambda image: image, gang_scheduler=None
    )


def refusal(folder: Path) -> str:
    with pytest.raises(OperatorManifestsError) as raised:
        made(folder)
    (line,) = str(raised.value).splitlines()
    return line


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file(given: Path, file: str) -> None:
    (given / file).unlink()
    assert refusal(given) == f"{given / file}: No such file or directory"


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_no_yaml(given: Path, file: str) -> None:
    (given / file).write_text("a: [b\nc: d\n")
    assert refusal(given).startswith(f"{given / file}: is no YAML: while parsing")
    (given / file).write_bytes(b"a: \xff\n")
    assert refusal(given).startswith(f"{given / file}: is no YAML: ")


@pytest.mark.parametrize("file", [file for file in FILES if file != PATCH])
@pytest.mark.parametrize("text", ["", "- kind: Deployment\n", "kind: Other\n", "just text\n"])
def test_a_file_without_its_manifest(given: Path, file: str, text: str) -> None:
    (given / file).write_text(text)
    assert refusal(given).startswith(f"{given / file}: has no ")


def test_a_file_with_two_of_a_kind(given: Path) -> None:
    file = given / "base/service.yaml"
    file.write_text(file.read_text() + "---\n" + file.read_text())
    assert refusal(given) == f"{file}: has 2 Service, wants 1"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("  name: training-op", "  name: op", f"has no training-operator in {CONTAINERS}"),
        ("containers:", "initContainers:", f"has no {CONTAINERS}"),
        ("      containers:", "      containers: x\n      y:", f"has no list {CONTAINERS}"),
        ("readinessProbe", "startupProbe", "has no readinessProbe"),
        ("livenessProbe", "startupProbe", "has no livenessProbe"),
        ("          image:", "          picture:", "has no image"),
        ("- command:", "- args: [--x]\n          command:", "has args, which would be lost"),
        ("      volumes:", "      others:", "has no spec.template.spec.volumes"),
        ("- name: cert", "- name: x", "has no cert in spec.template.spec.volumes"),
        ("secretName:", "x:", "has no secret.secretName"),
    ],
)  # fmt: skip
def test_what_the_deployment_lacks(given: Path, old: str, new: str, reason: str) -> None:
    edit(given / DEPLOYMENT, old, new)
    assert refusal(given) == f"{given / DEPLOYMENT}: {reason}"


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        (OVERLAY, "newTag", "digest", f"has no newTag for {IMAGE}"),
        (OVERLAY, "training-v1/", "", f"has no {IMAGE} in images"),
        (ROLE, "- tfjobs/status", "- x", "does not allow to update tfjobs/status.kubeflow.org"),
        (ROLE, "- pods\n", "- x\n", f"does not allow to {PODS}"),
        (ROLE, "rules:", "rules:\nx:", "has no list rules"),
        (WEBHOOKS, "validator.tfjob.", "validator.x.", f"has no {TFJOBS} in webhooks"),
        (WEBHOOKS, "clientConfig:", "config:", "has no webhooks.0.clientConfig"),
        (WEBHOOKS, "      name:", "      x:", "has no webhooks.0.clientConfig.service.name"),
        ("base/rbac/cluster-role-binding.yaml", "subjects:", "x:", "has no subjects"),
        ("base/rbac/service-account.yaml", "metadata:", "x:", "has no metadata"),
        ("base/service.yaml", "metadata:", "metadata: x\nx:", "has no metadata.name"),
        (DEFINITION, "  name: tfjobs.kubeflow.org", "  x: y", "has no metadata.name"),
    ],
)  # fmt: skip
def test_what_another_file_lacks(given: Path, file: str, old: str, new: str, reason: str) -> None:
    edit(given / file, old, new)
    assert refusal(given) == f"{given / file}: {reason}"


def test_a_patch_of_what_is_not_there_names_the_file_that_lacks_it(given: Path) -> None:
    edit(given / PATCH, "/webhooks/4/", "/webhooks/5/")
    assert refusal(given) == f"{given / WEBHOOKS}: has no webhooks.5"


def test_a_patch_of_another_kind_is_not_left_out_in_silence(given: Path) -> None:
    edit(given / PATCH, "- op: replace", "- op: remove")
    assert refusal(given).startswith(f"{given / PATCH}: wants replacements alone: ")


def test_what_only_other_kinds_of_job_need_is_not_asked_for(given: Path) -> None:
    before = made(given)
    edit(given / WEBHOOKS, "  name: validator.xgboostjob", "  x: validator.xgboostjob")
    edit(given / ROLE, "- xgboostjobs\n", "- x\n")
    assert made(given) == before


def test_an_image_of_another_name_is_followed(given: Path) -> None:
    edit(given / OVERLAY, "    newTag: ", "    newName: registry.example/operator\n    newTag: ")
    container = made(given)[-1]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.example/operator:v1-93c5489"
