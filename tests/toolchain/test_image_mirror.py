"""Other people's images are copied as they are, once, and under names that do not collide."""

import pytest

from tests.toolchain.builder_programs import BuilderPrograms
from toolchain.builders import Builder
from toolchain.image_mirror import copy_commands, mirror_images, place_of, refuse_collisions
from toolchain.report import Stop

DIGEST = "sha256:" + "ab" * 32
REGISTRY = "host:5000/team"


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("host:5000/team/a:1", "host:5000/team/a:1"),
        ("host:5000/team/a", "host:5000/team/a"),
        (f"host:5000/team/a:1@{DIGEST}", "host:5000/team/a:1"),
        (f"host:5000/team/a@{DIGEST}", f"host:5000/team/a:sha256-{'ab' * 32}"),
    ],
)
def test_place_of(target: str, place: str) -> None:
    assert place_of(target) == place


@pytest.mark.parametrize(
    ("builder", "source", "commands"),
    [
        (Builder("docker"), "x/a:1", ["docker buildx imagetools create --tag P x/a:1"]),
        (
            Builder("docker", skopeo=True),
            f"h:5/x/a:1@{DIGEST}",
            [f"docker buildx imagetools create --tag P h:5/x/a@{DIGEST}"],
        ),
        (
            Builder("buildah", skopeo=True),
            f"h:5/x/a@{DIGEST}",
            [f"skopeo copy --quiet --all --preserve-digests docker://h:5/x/a@{DIGEST} docker://P"],
        ),
        (
            Builder("podman"),
            "h:5/x/a:1",
            ["podman pull h:5/x/a:1", "podman push h:5/x/a:1 docker://P"],
        ),
    ],
)
def test_copy_commands(builder: Builder, source: str, commands: list[str]) -> None:
    assert [" ".join(command) for command in copy_commands(builder, source, "P")] == commands


def test_a_digest_is_not_changed_in_silence() -> None:
    with pytest.raises(Stop, match=r"^x/a@sha256:\w+ is named by its digest, .*install skopeo"):
        copy_commands(Builder("buildah"), f"x/a@{DIGEST}", "P")


def test_two_images_do_not_become_one() -> None:
    refuse_collisions({"x/a:1": "r/a:1", "x/a:2": "r/a:2"})
    with pytest.raises(Stop) as stop:
        refuse_collisions({"x/a:1": "r/a:1", "y/a:1": "r/a:1"})
    assert str(stop.value) == "x/a:1 and y/a:1 would both be r/a:1: they need two tags"


def test_what_is_missing_is_copied(
    builders: BuilderPrograms, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.add("docker", {"*team/b:1": "exit 0", "'manifest inspect'*": "exit 1"})
    copies = {f"x/{name}:1": f"{REGISTRY}/{name}:1" for name in ("a", "b")}
    mirror_images(Builder("docker"), copies, REGISTRY)
    assert builders.calls == [
        f"docker manifest inspect {REGISTRY}/a:1",
        f"docker buildx imagetools create --tag {REGISTRY}/a:1 x/a:1",
        f"docker manifest inspect {REGISTRY}/b:1",
    ]
    assert f"{REGISTRY}/b:1 is already there\n" in capsys.readouterr().out


def test_a_copy_that_fails_is_one_line(builders: BuilderPrograms) -> None:
    refused = "echo 'server: 401 Unauthorized' >&2; exit 1"
    builders.add("docker", {"'manifest inspect'*": "exit 1", "*create*": refused})
    with pytest.raises(Stop) as stop:
        mirror_images(Builder("docker"), {"x/a:1": f"{REGISTRY}/a:1"}, REGISTRY)
    assert str(stop.value) == (
        "x/a:1 was not copied: server: 401 Unauthorized; log in first: docker login host:5000"
    )
