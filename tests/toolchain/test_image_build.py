"""Images are made where they are missing and nowhere else, and each failure is one line. The
builders are stand-ins; tests/cluster has the real one."""

import re
from pathlib import Path

import pytest

from tests.toolchain.builder_programs import BuilderPrograms
from toolchain import image_build
from toolchain.builders import Builder
from toolchain.image_build import ensure_image, loading_hint, push_image, reason, save_image
from toolchain.image_tag import image_name, image_tag
from toolchain.places import ROOT
from toolchain.report import Stop
from toolchain.versions import read_versions

DOCKER = Builder("docker")
NAME = image_name("cpu", None)
REGISTRY = "host:5000/team"
PUSHED = image_name("cpu", REGISTRY)


@pytest.fixture(autouse=True)
def no_pip_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_build, "build_secrets", lambda folder: {"pip.conf": folder / "c"})


def test_an_image_that_is_there_is_not_built(
    builders: BuilderPrograms, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.add("docker")
    ensure_image(DOCKER, NAME, "cpu", None)
    assert builders.calls == [f"docker image inspect {NAME}"]
    assert capsys.readouterr().out == f"{NAME} is already there (docker)\n"


@pytest.mark.parametrize("base", [None, "mirror.example.com/python:3.12"])
def test_a_missing_image_is_built(builders: BuilderPrograms, base: str | None) -> None:
    builders.add("docker", {"'image inspect'*": "exit 1"})
    ensure_image(DOCKER, NAME, "cpu", base)
    _, build = builders.calls
    assert f"--build-arg PYTHON_IMAGE={base or read_versions().images['python']} " in build
    assert f"--build-arg VERSION={image_tag('cpu')} " in build
    assert re.search(r"/Dockerfile\.cpu .*--secret id=pip\.conf,src=\S+/c ", build)
    assert build.endswith(f" --tag {NAME} {ROOT / 'training/images'}")


def test_a_build_that_fails_is_one_line(builders: BuilderPrograms) -> None:
    builders.add("docker", {"'image inspect'*": "exit 1", "'buildx build'*": "exit 1"})
    with pytest.raises(Stop) as stop:
        ensure_image(DOCKER, NAME, "cpu", "python:3")
    assert str(stop.value) == (
        f"docker could not build {NAME} from python:3: what it says of it is above; "
        "make image PYTHON_IMAGE=… names another base"
    )


def test_what_the_registry_has_is_neither_built_nor_pushed(
    builders: BuilderPrograms, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.add("docker")
    push_image(DOCKER, "cpu", REGISTRY, None)
    assert builders.calls == [f"docker manifest inspect {PUSHED}"]
    assert capsys.readouterr().out == f"{PUSHED} is already there\n"


def test_what_the_registry_lacks_is_pushed(builders: BuilderPrograms) -> None:
    builders.add("docker", {"'manifest inspect'*": "exit 1"})
    push_image(DOCKER, "cpu", REGISTRY, None)
    assert builders.calls[1:] == [f"docker image inspect {PUSHED}", f"docker push {PUSHED}"]


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "denied: requested access to the resource is denied",
            "denied: requested access to the resource is denied; log in first: docker login "
            "host:5000",
        ),
        (
            'time="x" level=fatal msg="trying: checking: unauthorized: authentication required"',
            "unauthorized: authentication required; log in first: docker login host:5000",
        ),
        ("Error: dial tcp: connect: connection refused", "connect: connection refused"),
        ("", "it failed without a word"),
    ],
)
def test_a_push_that_fails_is_one_line(builders: BuilderPrograms, said: str, line: str) -> None:
    push = f"echo step >&2; echo '{said}' >&2; exit 1" if said else "exit 1"
    builders.add("docker", {"'manifest inspect'*": "exit 1", "push*": push})
    with pytest.raises(Stop) as stop:
        push_image(DOCKER, "cpu", REGISTRY, None)
    assert str(stop.value) == f"{PUSHED} was not pushed: {line}"


def test_an_archive_is_whole_or_not_there(builders: BuilderPrograms, tmp_path: Path) -> None:
    archive = tmp_path / "folder" / "image.tar"
    archive.parent.mkdir()
    builders.add("docker", {"*": 'echo half > "$4"; echo "no space left" >&2; exit 1'})
    with pytest.raises(Stop, match=r"image\.tar was not written: no space left$"):
        save_image(DOCKER, NAME, archive)
    assert list(archive.parent.iterdir()) == []
    builders.add("docker", {"*": 'echo whole > "$4"'})
    save_image(DOCKER, NAME, archive)
    assert [file.name for file in archive.parent.iterdir()] == ["image.tar"]
    assert archive.read_text() == "whole\n"


def test_an_archive_that_the_builder_did_not_write_is_told(
    builders: BuilderPrograms, tmp_path: Path
) -> None:
    builders.add("docker")
    with pytest.raises(Stop, match=r"x\.tar was not written: No such file or directory$"):
        save_image(DOCKER, NAME, tmp_path / "no" / "x.tar")


def test_reason_is_the_end_of_the_last_line() -> None:
    assert reason("a: b\nError: pushing: checking: connection refused\n\n") == (
        "checking: connection refused"
    )


@pytest.mark.parametrize(
    ("program", "hint"), [("docker", f"kind load docker-image {NAME},"), ("buildah", "ARCHIVE=")]
)
def test_the_hint_is_of_what_the_builder_can_do(program: str, hint: str) -> None:
    assert hint in loading_hint(Builder(program), NAME)
