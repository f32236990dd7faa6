"""The lock files and go.mod files say what versions.toml says."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from toolchain.locks import ALONE, FILES, whole_groups
from toolchain.places import ROOT
from toolchain.versions import parse_version, read_versions

MODULES = sorted((ROOT / "toolchain").glob("*/go.mod"))


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(file: str) -> dict[str, list[str]]:
    """The versions of each package; several where the choice depends on the machine."""
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / file).read_text(), re.M):
        found.setdefault(canonical(name), []).append(version)
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_lock_has_its_groups_versions(name: str) -> None:
    lock = locked(FILES[name])
    groups = [*whole_groups(name), *ALONE.get(name, ())]
    pins = {k: pin for group in groups for k, pin in read_versions().python[group].items()}
    wanted = {
        canonical(name.partition("[")[0]): [pin.partition(";")[0]] for name, pin in pins.items()
    }
    assert wanted == {name: lock.get(name) for name in wanted}


def test_every_group_is_in_a_lock() -> None:
    used = {group for name in FILES for group in (*whole_groups(name), *ALONE.get(name, ()))}
    assert used == set(read_versions().python)


@pytest.mark.parametrize("file", ["local", "cpu"])
@pytest.mark.parametrize(
    ("system", "machine", "package"),
    [
        ("linux", "x86_64", "tensorflow-cpu"),
        ("linux", "aarch64", "tensorflow"),
        ("darwin", "arm64", "tensorflow"),
    ],
)
def test_each_kind_of_machine_gets_the_one_tensorflow_that_there_is_for_it(
    file: str, system: str, machine: str, package: str
) -> None:
    lines = re.findall(r"^tensorflow.*?(?= \\$)", (ROOT / FILES[file]).read_text(), re.M)
    requirements = [Requirement(line) for line in lines]
    assert {requirement.name for requirement in requirements} == {"tensorflow", "tensorflow-cpu"}
    kind = {"sys_platform": system, "platform_machine": machine}
    chosen = [each.name for each in requirements if each.marker and each.marker.evaluate(kind)]
    assert chosen == [package]


def test_the_gpu_image_has_one_tensorflow_and_nvidias_libraries() -> None:
    lock = locked(FILES["gpu"])
    assert "tensorflow-cpu" not in lock
    assert {"tensorflow", "nvidia-nccl-cu12", "nvidia-cudnn-cu12"} <= set(lock)
    assert not [name for name in locked(FILES["cpu"]) if name.startswith("nvidia")]


@pytest.mark.parametrize("file", FILES.values())
def test_each_locked_package_has_hashes_and_no_host_is_named(file: str) -> None:
    text = (ROOT / file).read_text()
    requirements = re.split(r"\n(?=\S)", text.partition("\n")[2].strip())
    assert requirements
    assert [r for r in requirements if "--hash=sha256:" not in r] == []
    assert "://" not in text
    assert "index-url" not in text


def test_locks_can_be_installed_together() -> None:
    chosen: dict[str, set[tuple[str, ...]]] = {}
    for file in FILES.values():
        for name, pins in locked(file).items():
            chosen.setdefault(name, set()).add(tuple(sorted(pins)))
    assert {name: pins for name, pins in chosen.items() if len(pins) > 1} == {}


def test_packages_for_other_targets_are_in_no_lock() -> None:
    names = {name for file in FILES.values() for name in locked(file)}
    assert "pulumi-alicloud" not in names


def test_a_target_does_not_install_what_only_another_needs() -> None:
    only_cluster = {"pulumi-kubernetes", "kubernetes"}
    assert only_cluster <= locked(FILES["kubernetes"]).keys()
    assert not only_cluster & (locked(FILES["local"]).keys() | locked(FILES["stack"]).keys())
    assert not {"tensorflow", "tensorflow-cpu", "tensorboard"} & locked(FILES["kubernetes"]).keys()


def requirements(module: Path) -> dict[str, str]:
    """The modules that a go.mod asks for itself; what those bring is `// indirect`."""
    lines = re.findall(r"^(?:require |\t)(\S+) v(\S+)$", module.read_text(), re.M)
    assert lines
    return dict(lines)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.parent.name)
def test_go_modules_have_the_versions_of_versions_toml(module: Path) -> None:
    versions = read_versions()
    for name, version in requirements(module).items():
        of_pulumi = re.match(r"github\.com/pulumi/pulumi/\w+/v3$", name)
        pinned = versions.programs["pulumi"] if of_pulumi else versions.modules.get(name)
        # What a program of this project's own imports besides follows from the pinned ones.
        assert version == pinned or (pinned is None and module.parent.name == "languagehost"), name
    go = re.findall(r"^go (\S+)$", module.read_text(), re.M)
    assert go == [versions.programs["go-minimum"]]


def test_each_pinned_module_is_asked_for() -> None:
    asked = {name for module in MODULES for name in requirements(module)}
    assert set(read_versions().modules) - asked == set()


def test_all_parts_of_kubernetes_are_of_its_version() -> None:
    text = (ROOT / "toolchain" / "kubernetes" / "go.mod").read_text()
    replaced = re.findall(r"^\t(k8s.io/\S+) => (\S+) v(\S+)$", text, re.M)
    assert len(replaced) > 20
    part = re.sub(r"^1\.", "0.", read_versions().modules["k8s.io/kubernetes"])
    assert {(name, part) for name, _, _ in replaced} == {(to, at) for _, to, at in replaced}


def test_the_engine_is_no_older_than_the_sdk() -> None:
    versions = read_versions()
    minimum = parse_version(versions.programs["pulumi-minimum"])
    assert parse_version(versions.python["stack"]["pulumi"]) <= minimum
    assert minimum <= parse_version(versions.programs["pulumi"])


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v3.274.1\n", (3, 274, 1)),
        ("go1.26.6", (1, 26, 6)),
        ("devel go1.27-abc", (1, 27)),
        ("3.11", (3, 11)),
        ("none", ()),
    ],
)
def test_parse_version(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version
