"""`make image`: what it does for which stack, and what it refuses in one line."""

from pathlib import Path

import pytest

from toolchain.builders import Builder
from workloads import image_command
from workloads.image_command import main


@pytest.fixture(autouse=True)
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What would be done, in its order; the doing itself has tests of its own."""
    done: list[tuple[object, ...]] = []
    builder = Builder("buildah")
    monkeypatch.setattr(image_command, "ROOT", tmp_path)
    monkeypatch.setattr(image_command, "find_builder", lambda chosen: builder)
    monkeypatch.setattr(image_command, "image_name", lambda kind, registry: f"{registry}/{kind}")
    monkeypatch.setattr(image_command, "third_party_images", lambda: ("ghcr.io/x/y:1",))
    for name in ("ensure_image", "push_image", "save_image", "mirror_images"):
        monkeypatch.setattr(
            image_command, name, lambda _, *rest, name=name: done.append((name, *rest))
        )
    return done


@pytest.fixture
def stack(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")


@pytest.fixture
def gpu_stack(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text(
        "config:\n  ack-training:imageRegistry: r/t\n  ack-training:jobs: {a: {chief: {gpus: 1}}}\n"
    )


@pytest.mark.usefixtures("stack")
def test_without_a_registry_the_image_is_built_and_how_to_load_it_is_told(
    done: list[tuple[object, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--stack=dev"]) == 0
    assert done == [("ensure_image", "None/cpu", "cpu", None)]
    assert capsys.readouterr().out.startswith("load it: make image ARCHIVE=")


@pytest.mark.usefixtures("gpu_stack")
def test_with_a_registry_the_images_that_the_jobs_need_are_pushed(
    done: list[tuple[object, ...]],
) -> None:
    assert main(["--stack=dev", "--python-image=p"]) == 0
    assert done == [("push_image", "cpu", "r/t", "p"), ("push_image", "gpu", "r/t", "p")]


@pytest.mark.usefixtures("gpu_stack")
def test_not_pushed_if_told_so(done: list[tuple[object, ...]]) -> None:
    assert main(["--stack=dev", "--image=gpu", "--push=0"]) == 0
    assert done == [("ensure_image", "r/t/gpu", "gpu", None)]


@pytest.mark.usefixtures("gpu_stack")
def test_an_archive_is_written_in_place_of_a_push(
    done: list[tuple[object, ...]], tmp_path: Path
) -> None:
    archive = tmp_path / "x.tar"
    assert main(["--stack=dev", "--image=cpu", f"--archive={archive}"]) == 0
    assert done == [
        ("ensure_image", "r/t/cpu", "cpu", None),
        ("save_image", "r/t/cpu", archive),
    ]


@pytest.mark.usefixtures("gpu_stack")
def test_other_projects_images_are_copied_on_request(done: list[tuple[object, ...]]) -> None:
    assert main(["--stack=dev", "--image=cpu", "--mirror=1"]) == 0
    assert done[1:] == [("mirror_images", {"ghcr.io/x/y:1": "r/t/y:1"}, "r/t")]


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--stack=prod"], "there is no Pulumi.prod.yaml"),
        (["--stack=dev", "--image=tpu"], "IMAGE=tpu: must be one of cpu, gpu, all"),
        (["--stack=dev", "--push=1"], "PUSH=1: Pulumi.dev.yaml has no ack-training:imageRegistry"),
        (
            ["--stack=dev", "--mirror=1"],
            "MIRROR=1: Pulumi.dev.yaml has no ack-training:imageRegistry",
        ),
        (
            ["--stack=dev", "--image=all", "--archive=x.tar"],
            "ARCHIVE= takes one image: name it, IMAGE=cpu or IMAGE=gpu",
        ),
        (["--stack=dev", "--archive=/no/x.tar"], "ARCHIVE=/no/x.tar: there is no folder /no"),
    ],
)
def test_refusals(
    arguments: list[str],
    line: str,
    done: list[tuple[object, ...]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"ack-training: {line}\n"
    assert done == []
