"""Upstream's manifests of the training operator get into the cache whole, or not at all."""

import io
import shutil
import tarfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import pytest

from toolchain import operator_manifests
from toolchain.go_build import module_folder
from toolchain.operator_manifests import FILES, digest, ensure_operator_manifests
from toolchain.report import Stop
from toolchain.versions import read_versions

VERSION = read_versions().modules["github.com/kubeflow/training-operator"]
RELEASED = operator_manifests.operator_manifests("dev")
"""In the cache of who runs the tests; set-up brought them."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, on a machine without Go or github.com."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ACK_TRAINING_OFFLINE", "1")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    return tmp_path / "cache" / "ack-training"


@pytest.fixture
def module(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Go's module cache has of upstream."""
    source = tmp_path / "module"
    shutil.copytree(RELEASED, source / "manifests")
    (source / "manifests" / "base" / "unread.yaml").write_text("x")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(operator_manifests, "module_folder", lambda module, name: source)
    return source / "manifests"


def contents(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_what_set_up_brought_is_what_upstream_released() -> None:
    assert sorted(contents(RELEASED)) == sorted(FILES)
    assert digest(RELEASED) == read_versions().files["training-operator-manifests"]


def test_they_come_from_the_go_module(module: Path, cache: Path) -> None:
    ensure_operator_manifests()
    assert contents(operator_manifests.operator_manifests("dev")) == contents(RELEASED)
    assert [path.name for path in cache.iterdir()] == [f"training-operator-{VERSION}"]


def test_a_second_set_up_asks_for_nothing_and_says_nothing(
    module: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ensure_operator_manifests()
    assert "Getting the manifests of training operator" in capsys.readouterr().out
    monkeypatch.setattr(operator_manifests, "_get", lambda: pytest.fail("got them again"))
    ensure_operator_manifests()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("file", FILES)
def test_damaged_ones_are_made_again(module: Path, file: str) -> None:
    ensure_operator_manifests()
    folder = operator_manifests.operator_manifests("dev")
    (folder / file).write_bytes((folder / file).read_bytes()[:-1])
    ensure_operator_manifests()
    assert contents(folder) == contents(RELEASED)
    (folder / file).unlink()
    ensure_operator_manifests()
    assert contents(folder) == contents(RELEASED)


def test_what_a_killed_set_up_left_is_removed(module: Path, cache: Path) -> None:
    leftover = cache / "manifests-killed" / "x"
    leftover.mkdir(parents=True)
    ensure_operator_manifests()
    assert not leftover.exists()


def archive(members: Mapping[str, bytes]) -> BinaryIO:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    made.seek(0)
    return made


@pytest.fixture
def github(cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The members of the archive there."""
    monkeypatch.delenv("ACK_TRAINING_OFFLINE")
    manifests = {f"trainer-{VERSION}/manifests/{name}": (RELEASED / name) for name in FILES}
    members = {name: file.read_bytes() for name, file in manifests.items()}

    def open_(url: str, timeout: float) -> BinaryIO:
        assert url.endswith(f"/kubeflow/trainer/archive/refs/tags/v{VERSION}.tar.gz")
        if not members:
            raise urllib.error.URLError("no such host")
        return archive(members)

    monkeypatch.setattr(urllib.request, "urlopen", open_)
    return members


def test_without_go_they_come_from_the_released_archive(github: dict[str, bytes]) -> None:
    # Of other folders, files of the same name are others.
    for name in ("base/deployment.yaml", "../../base/deployment.yaml"):
        github[f"trainer-{VERSION}/examples/manifests/{name}"] = b"other"
    github[f"trainer-{VERSION}/README.md"] = b"other"
    ensure_operator_manifests()
    assert contents(operator_manifests.operator_manifests("dev")) == contents(RELEASED)


def test_others_than_were_released_are_not_taken(
    github: dict[str, bytes], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    github[f"trainer-{VERSION}/manifests/base/deployment.yaml"] += b"\n# and more\n"
    ensure_operator_manifests()
    assert "github.com: has other files than were released" in capsys.readouterr().out
    assert list(cache.iterdir()) == []


def test_where_they_cannot_be_had_one_line_says_what_to_do(
    github: dict[str, bytes], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    github.clear()
    ensure_operator_manifests()
    _, line = capsys.readouterr().out.splitlines()
    assert line.startswith("  they cannot be had (")
    assert "the Go module proxy: there is no Go on PATH; github.com: " in line
    assert "no such host" in line
    assert "needs the path of upstream's folder `manifests`" in line
    assert list(cache.iterdir()) == []


def test_damaged_ones_are_not_used_while_there_are_no_others(module: Path, cache: Path) -> None:
    ensure_operator_manifests()
    (operator_manifests.operator_manifests("dev") / FILES[0]).write_text("damaged")
    shutil.rmtree(module)
    ensure_operator_manifests()
    with pytest.raises(Stop, match="run `make setup STACK=dev`"):
        operator_manifests.operator_manifests("dev")
    assert list(cache.iterdir()) == []


def test_a_program_is_told_to_set_up_where_they_are_missing(cache: Path) -> None:
    with pytest.raises(Stop, match=r"manifests of .* run `make setup STACK=dev`$") as stop:
        operator_manifests.operator_manifests("dev")
    assert "\n" not in str(stop.value)


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go and its module cache")
def test_the_pinned_module_has_them() -> None:
    upstream = module_folder(operator_manifests.MODULE, "github.com/kubeflow/training-operator")
    assert digest(upstream / "manifests") == digest(RELEASED)
