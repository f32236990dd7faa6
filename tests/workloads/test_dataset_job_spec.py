"""The Jobs that fill datasets: one for each source, none with more rights than it needs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from config.datasets import Dataset
from config.names import LONGEST_LABEL
from tests.workloads.clusters import OWNER, cluster_stack
from tests.workloads.pod_security import containers, restricted_faults
from workloads.dataset_job_spec import dataset_job_specs
from workloads.images import default_image
from workloads.volume.__main__ import _parser

SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
DATASETS: dict[str, dict[str, Any]] = {
    "mnist": {"source": "sample"},
    "texts": {"source": "url", "url": "https://example.com/t.tar.gz?key=1", "sha256": SHA256},
    "images": {"source": "image", "image": "example.com/team/data:2", "path": "/data/"},
    "old": {"source": "claim", "claim": "old-data", "path": "mnist/2020"},
    "whole": {"source": "claim", "claim": "old-data"},
    "own": {"source": "provided"},
}


def specs(**settings: Any) -> dict[str, Any]:
    return dataset_job_specs(cluster_stack(datasets=DATASETS, **settings), OWNER)


def pod_of(spec: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = spec["spec"]["template"]["spec"]
    return pod


def arguments(container: dict[str, Any]) -> list[str]:
    command: list[str] = container["command"]
    assert command[:3] == ["python", "-m", "workloads.volume"]
    return [argument for argument in command[3:] if not argument.startswith("--")]


def mounts(container: dict[str, Any]) -> dict[str, Any]:
    return {
        mount["mountPath"]: mount
        for mount in container["volumeMounts"]
        if mount["name"] not in ("scripts", "tmp")
    }


def test_every_source_but_provided_has_a_job() -> None:
    assert sorted(specs()) == sorted(set(DATASETS) - {"own"})


@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"own"}))
@pytest.mark.parametrize("security", ["baseline", "restricted"])
@pytest.mark.parametrize("storage", [{"hostPath": "/srv/t"}, {"claim": "c"}])
def test_every_pod_passes_restricted_and_has_requests_and_limits(
    name: str, security: str, storage: dict[str, Any]
) -> None:
    spec = specs(kubernetes={"podSecurity": security}, storage=storage)[name]
    pod = pod_of(spec)
    assert list(restricted_faults(pod)) == []
    assert len(spec["metadata"]["name"]) <= LONGEST_LABEL
    volumes = [volume["name"] for volume in pod["volumes"]]
    for container in containers(pod):
        assert set(container["resources"]) == {"requests", "limits"}
        assert {mount["name"] for mount in container["volumeMounts"]} <= set(volumes)
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert spec["metadata"]["annotations"]["pulumi.com/replaceUnready"] == "true"
    assert spec["spec"]["backoffLimit"] == 0


@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"own"}))
def test_the_program_understands_its_arguments(name: str) -> None:
    for container in containers(pod_of(specs()[name])):
        if container["name"] != "copy":
            options = _parser().parse_args(container["command"][3:])
            assert options.name == name
            assert options.owner == OWNER


def test_each_source_is_told_the_program() -> None:
    found = specs()
    assert arguments(pod_of(found["mnist"])["containers"][0]) == ["sample", "mnist"]
    assert arguments(pod_of(found["texts"])["containers"][0]) == [
        *("url", "texts", "https://example.com/t.tar.gz?key=1", SHA256)
    ]
    assert arguments(pod_of(found["old"])["containers"][0]) == [
        *("claim", "old", "old-data", "mnist/2020", "/source")
    ]
    assert arguments(pod_of(found["whole"])["containers"][0]) == [
        *("claim", "whole", "old-data", ".", "/source")
    ]


@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"own"}))
def test_of_the_volume_a_pod_sees_the_datasets_alone(name: str) -> None:
    (container,) = pod_of(specs()[name])["containers"]
    assert mounts(container)["/training/datasets"] == {
        "name": "shared",
        "mountPath": "/training/datasets",
        "subPath": "datasets",
    }


def test_another_claim_is_mounted_for_reading() -> None:
    pod = pod_of(specs()["old"])
    assert {
        "name": "source",
        "persistentVolumeClaim": {"claimName": "old-data", "readOnly": True},
    } in pod["volumes"]
    assert mounts(pod["containers"][0])["/source"]["readOnly"] is True


def test_the_users_image_copies_between_begin_and_fill_and_sees_only_the_folder_to_fill() -> None:
    pod = pod_of(specs(imageRegistry="registry.example.com/team")["images"])
    begin, copy = pod["initContainers"]
    (fill,) = pod["containers"]
    assert copy["image"] == "registry.example.com/team/data:2"
    assert begin["image"] == fill["image"] == default_image(0, "registry.example.com/team")
    assert arguments(begin) == ["begin-image", "images", "/status"]
    assert arguments(fill) == [
        *("finish-image", "images", "registry.example.com/team/data:2", "/data", "/status")
    ]
    assert copy["command"][:2] == ["sh", "-c"]
    assert copy["command"][3:] == ["sh", "/data"]
    assert set(mounts(copy)) == {"/filling", "/status"}
    folder = mounts(copy)["/filling"]["subPath"]
    assert re.fullmatch(r"datasets/\.filling-images\.[0-9a-f]{12}/data", folder)
    # Another stack gathers elsewhere.
    other = dataset_job_specs(cluster_stack(datasets=DATASETS), "acme/training/prod")["images"]
    assert mounts(pod_of(other)["initContainers"][1])["/filling"]["subPath"] != folder


def test_names_fit_and_differ_however_long_the_datasets_name_is() -> None:
    long = {f"{'d' * 60}{letter}": DATASETS["whole"] for letter in "abc"}
    found = dataset_job_specs(cluster_stack(datasets=long), OWNER)
    names = {spec["metadata"]["name"] for spec in found.values()}
    assert len(names) == 3
    assert all(len(name) <= LONGEST_LABEL for name in names)
    labels = {value for spec in found.values() for value in spec["metadata"]["labels"].values()}
    assert all(len(label) <= LONGEST_LABEL for label in labels)


def test_a_cut_name_ends_in_no_hyphen_before_its_digest() -> None:
    name = f"{'d' * 43}-{'e' * 10}"
    found = dataset_job_specs(cluster_stack(datasets={name: DATASETS["whole"]}), OWNER)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", found[name]["metadata"]["name"])


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "https://example.com/u.tar.gz"},
        {"sha256": SHA256.replace("9", "8")},
    ],
)
def test_an_edited_source_is_another_job(changed: dict[str, str]) -> None:
    edited = {**DATASETS, "texts": {**DATASETS["texts"], **changed}}
    after = dataset_job_specs(cluster_stack(datasets=edited), OWNER)
    before = specs()
    differing = {n for n in before if before[n]["metadata"]["name"] != after[n]["metadata"]["name"]}
    assert differing == {"texts"}


def test_every_source_of_the_config_is_tested_here() -> None:
    assert set(Dataset.model_fields["source"].annotation.__args__) == {  # type: ignore[union-attr]
        settings["source"] for settings in DATASETS.values()
    }
