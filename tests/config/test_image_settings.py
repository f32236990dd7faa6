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
    assert settings(tmp_path, text) == ImageSettings(registry, gpus=False)


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
