"""An image's tag is made of all that the image is made of, and of nothing else."""

import re
import shutil
from pathlib import Path

import pytest

from toolchain.image_tag import FOLDER, KINDS, Kind, image_files, image_name, image_tag
from toolchain.places import ROOT

SHOWN_DIFFERENCES = ("#", "COPY requirements-", "LABEL", "org.opencontainers", "ENV NVIDIA_")
"""The lines in which the two Dockerfiles may differ begin so."""


def copied(folder: Path) -> Path:
    """A checkout with what images are made of and nothing else."""
    shutil.copytree(ROOT / FOLDER, folder / FOLDER)
    shutil.copy(ROOT / "versions.toml", folder)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copied(tmp_path / "checkout")


@pytest.mark.parametrize("kind", KINDS)
def test_a_tag_is_twelve_hex_digits_and_the_same_in_every_checkout(
    kind: Kind, checkout: Path
) -> None:
    assert re.fullmatch("[0-9a-f]{12}", image_tag(kind))
    assert image_tag(kind, checkout) == image_tag(kind)


def test_kinds_have_tags_of_their_own(checkout: Path) -> None:
    for mine, other in zip(image_files("cpu"), image_files("gpu"), strict=True):
        shutil.copy(checkout / FOLDER / mine, checkout / FOLDER / other)
    assert image_tag("cpu", checkout) != image_tag("gpu", checkout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("changed", [name for kind in KINDS for name in image_files(kind)])
def test_a_tag_changes_with_the_images_own_files_alone(
    kind: Kind, changed: str, checkout: Path
) -> None:
    with (checkout / FOLDER / changed).open("a") as file:
        file.write("# another line\n")
    own = changed in image_files(kind)
    assert (image_tag(kind, checkout) != image_tag(kind)) is own


def test_what_moves_from_one_file_to_the_next_changes_the_tag(checkout: Path) -> None:
    first, second = (checkout / FOLDER / name for name in image_files("cpu"))
    whole = first.read_bytes()
    first.write_bytes(whole[:-10])
    second.write_bytes(whole[-10:] + second.read_bytes())
    assert image_tag("cpu", checkout) != image_tag("cpu")


def test_a_tag_changes_with_the_base_and_with_no_other_version(tmp_path: Path) -> None:
    other, based = copied(tmp_path / "other"), copied(tmp_path / "based")
    text = (ROOT / "versions.toml").read_text()
    (other / "versions.toml").write_text(re.sub(r'(?m)^rich = ".*"', 'rich = "99"', text))
    (based / "versions.toml").write_text(text.replace("library/python:3", "library/python:4"))
    assert (other / "versions.toml").read_text() != text != (based / "versions.toml").read_text()
    assert image_tag("cpu", other) == image_tag("cpu")
    assert image_tag("cpu", based) != image_tag("cpu")


def test_the_base_is_named_by_tag_and_digest() -> None:
    (base,) = re.findall(r'(?m)^python = "(.*)"$', (ROOT / "versions.toml").read_text())
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)


def test_a_name_has_the_registry_before_it() -> None:
    tag = image_tag("gpu")
    assert image_name("gpu", None) == f"ack-training-gpu:{tag}"
    assert image_name("gpu", "host:5000/a") == f"host:5000/a/ack-training-gpu:{tag}"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_comes_into_an_image_from_a_file_that_its_tag_does_not_know(kind: Kind) -> None:
    dockerfile, *rest = image_files(kind)
    text = (ROOT / FOLDER / dockerfile).read_text()
    sources = re.findall(r"(?m)^(?:COPY|ADD) (?!--from=packages )(\S+)", text)
    assert sources == rest
    assert set(re.findall(r"(?m)^FROM (\S+)", text)) == {"${PYTHON_IMAGE}"}


def test_the_dockerfiles_differ_where_they_say_so() -> None:
    cpu, gpu = (
        [
            line
            for line in (ROOT / FOLDER / image_files(kind)[0]).read_text().splitlines()
            if not line.lstrip().startswith(SHOWN_DIFFERENCES)
        ]
        for kind in KINDS
    )
    assert cpu == gpu
    assert len(cpu) > 15
