"""What `make image` reads of a stack's file."""

from pathlib import Path

import pytest

from config.image_settings import ImageSettings, image_settings


def settings(folder: Path, text: str) -> ImageSettings:
    (folder / "Pulumi.dev.yaml").write_text(text)
    return image_settings(folder, "dev")


@pytest.mark.parametrize(
    ("text", "registry"),
    [
        ("config:\n  ack-training:imageRegistry: host:5000/team\n", "host:5000/team"),
        ("config:\n  ack-training:config:imageRegistry: a.example/b\n", "a.example/b"),
        ("config:\n  ack-training:imageRegistry:\n", None),
        ("config:\n  ack-training:imageRegistry: {secure: abc}\n", None),
        ("config:\n  ack-training:target: kubernetes\n", None),
        ("not: [yaml", None),
        ("", None),
    ],
)
def test_registry(tmp_path: Path, text: str, registry: str | None) -> None:
    found = settings(tmp_path, text)
    assert (found.registry, found.gpus) == (registry, False)


@pytest.mark.parametrize(
    ("jobs", "gpus"),
    [
        ("{a: {worker: {replicas: 2, gpus: 1}}}", True),
        ("{a: {chief: {}}, b: {chief: {gpus: '2'}}}", True),
        ("{a: {worker: {gpus: 0}, chief: {gpus: '0'}}}", False),
        ("{a: {program: x.py, args: [--gpus=1], chief: {}}}", False),
        ("{a: null}", False),
        ("[1, 2]", False),
        ("", False),
    ],
)
def test_gpus(tmp_path: Path, jobs: str, gpus: bool) -> None:
    text = f"config:\n  ack-training:jobs: {jobs}\n"
    assert settings(tmp_path, text) == ImageSettings(None, gpus)


def test_a_stack_without_a_file_has_neither(tmp_path: Path) -> None:
    assert image_settings(tmp_path, "dev") == ImageSettings(None, gpus=False)


def test_the_images_that_a_file_names(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "config:\n"
        "  ack-training:target: kubernetes\n"
        "  ack-training:operator: {image: 'a.example/o:1'}\n"
        "  ack-training:datasets: {d: {source: image, image: 'b.example/d:1', path: /d}, e: null}\n"
        "  ack-training:jobs: {j: {image: 'c.example/j:1'}, k: {image: 'c.example/j:1'}, l: 3}\n",
    )
    assert found.images == ("a.example/o:1", "b.example/d:1", "c.example/j:1")
    assert not found.installs_operator


@pytest.mark.parametrize(
    ("text", "installs"),
    [
        ("ack-training:target: kubernetes", True),
        ("ack-training:target: local", False),
        ("ack-training:target: kubernetes\n  ack-training:operator: {install: false}", False),
    ],
)
def test_who_installs_the_operator(tmp_path: Path, text: str, installs: bool) -> None:
    assert settings(tmp_path, f"config:\n  {text}\n").installs_operator is installs
