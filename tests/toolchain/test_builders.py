"""Which program builds, and what each is called with."""

from pathlib import Path

import pytest

from tests.toolchain.builder_programs import BuilderPrograms
from toolchain.builders import Build, Builder, find_builder
from toolchain.report import Stop

BUILD = Build(
    "ack-training-cpu:0123",
    dockerfile=Path("/checkout/Dockerfile.cpu"),
    context=Path("/checkout"),
    arguments={"PYTHON_IMAGE": "python:3", "VERSION": "0123"},
    secrets={"pip.conf": Path("/tmp/pip.conf")},
)
PROGRAMS = ("docker", "podman", "buildah")


def test_the_first_that_works_is_taken(builders: BuilderPrograms) -> None:
    for program in PROGRAMS:
        builders.add(program)
    assert find_builder(None) == Builder("docker")
    builders.add("docker", {"version*": "exit 1"})
    assert find_builder(None) == Builder("podman")
    builders.add("podman", {"info": "exit 125"})
    builders.add("skopeo")
    assert find_builder(None) == Builder("buildah", skopeo=True)


def test_the_users_choice_is_taken_before_better_ones(builders: BuilderPrograms) -> None:
    for program in PROGRAMS:
        builders.add(program)
    assert [find_builder(program).program for program in PROGRAMS] == list(PROGRAMS)


@pytest.mark.parametrize(
    ("chosen", "line"),
    [
        ("kaniko", "BUILDER=kaniko: must be one of docker, podman, buildah"),
        ("docker", "BUILDER=docker: it lacks buildx"),
        ("podman", "BUILDER=podman: not installed"),
    ],
)
def test_no_other_is_taken_in_place_of_the_users_choice(
    chosen: str, line: str, builders: BuilderPrograms
) -> None:
    builders.add("buildah")
    builders.add("docker", {"buildx*": "exit 1"})
    with pytest.raises(Stop) as stop:
        find_builder(chosen)
    assert str(stop.value) == line


def test_without_any_one_line_says_why_and_what_to_install(builders: BuilderPrograms) -> None:
    builders.add("docker", {"version*": "exit 1"})
    with pytest.raises(Stop) as stop:
        find_builder(None)
    assert str(stop.value) == (
        "no program here can build images (docker: its daemon cannot be reached; podman: not "
        "installed; buildah: not installed): start Docker, or install buildah (Debian, Ubuntu: "
        "apt-get install buildah)"
    )


@pytest.mark.parametrize(
    ("program", "start", "name"),
    [
        ("docker", "docker buildx build --load --provenance=false", "ack-training-cpu:0123"),
        ("podman", "podman build --format=oci", "docker.io/library/ack-training-cpu:0123"),
        ("buildah", "buildah build --format=oci", "docker.io/library/ack-training-cpu:0123"),
    ],
)
def test_build(program: str, start: str, name: str) -> None:
    assert " ".join(Builder(program).build(BUILD)) == (
        f"{start} --file /checkout/Dockerfile.cpu --build-arg PYTHON_IMAGE=python:3 "
        f"--build-arg VERSION=0123 --secret id=pip.conf,src=/tmp/pip.conf --tag {name} /checkout"
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_name_in_a_registry_is_the_same_for_all(program: str) -> None:
    assert Builder(program).own_name("host:5000/team/a:1") == "host:5000/team/a:1"


@pytest.mark.parametrize(
    ("builder", "here", "in_registry", "push", "save"),
    [
        (
            Builder("docker"),
            "docker image inspect r/a:1",
            "docker manifest inspect r/a:1",
            "docker push r/a:1",
            "docker image save --output /x.tar r/a:1",
        ),
        (
            Builder("podman"),
            "podman image exists r/a:1",
            "podman pull --quiet r/a:1",
            "podman push r/a:1",
            "podman save --format=oci-archive --output /x.tar r/a:1",
        ),
        (
            Builder("buildah", skopeo=True),
            "buildah inspect --type=image r/a:1",
            "skopeo inspect --raw docker://r/a:1",
            "buildah push r/a:1",
            "buildah push r/a:1 oci-archive:/x.tar:r/a:1",
        ),
    ],
)
def test_other_commands(
    builder: Builder, here: str, in_registry: str, push: str, save: str
) -> None:
    assert " ".join(builder.is_here("r/a:1")) == here
    assert " ".join(builder.is_in_registry("r/a:1")) == in_registry
    assert " ".join(builder.push("r/a:1")) == push
    assert " ".join(builder.save("r/a:1", Path("/x.tar"))) == save
    assert builder.log_in("host:5000/team") == f"{builder.program} login host:5000"
