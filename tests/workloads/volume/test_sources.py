"""Datasets from the sample, another claim, an image: what arrives, and what is refused."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.workloads.volume.harness import contents, names
from workloads.dataset_job_spec import _COPY
from workloads.datasets import mnist_sample
from workloads.datasets.mnist_directory import IDX_FILES, SAMPLE, SAMPLE_SUM
from workloads.volume.filling import Dataset
from workloads.volume.place import Refused, Volume
from workloads.volume.record import RECORD
from workloads.volume.sources import begin_image, fill_from_claim, fill_sample, finish_image

IMAGE = "example.com/data:2"


@pytest.fixture
def mnist(volume: Volume, datasets: Path) -> Dataset:
    return Dataset(volume, "mnist")


@pytest.fixture
def images(volume: Volume, datasets: Path) -> Dataset:
    return Dataset(volume, "images")


@pytest.fixture
def status(tmp_path: Path) -> Path:
    folder = tmp_path / "status"
    folder.mkdir()
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with all that data may hold."""
    folder = tmp_path / "source"
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / "data" / "a b").write_text("a")
    (folder / "data" / "deep" / ".hidden").write_text("h")
    (folder / "data" / "deep" / "link").symlink_to("../a b")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "c").write_text("c")
    (folder / "data" / "folder").symlink_to("../elsewhere")
    return folder


def arrived(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != RECORD
    }


EVERYTHING = {"a b": "a", "deep/.hidden": "h", "deep/link": "a", "folder/c": "c"}


def test_the_sample_of_mnist(mnist: Dataset, datasets: Path) -> None:
    assert fill_sample(mnist) == (
        "/srv/training/datasets/mnist was filled from the sample of mnist: 2 files"
    )
    assert names(datasets / "mnist") == [RECORD, SAMPLE, SAMPLE_SUM]
    before = contents(datasets)
    assert "nothing was changed" in fill_sample(mnist)
    assert contents(datasets) == before
    (datasets / "mnist" / SAMPLE).write_bytes(b"half")
    with pytest.raises(Refused, match=f"mnist/{SAMPLE} is 4 bytes long"):
        fill_sample(mnist)


@pytest.mark.parametrize("name", IDX_FILES)
def test_own_files_of_mnist_are_left_alone(mnist: Dataset, datasets: Path, name: str) -> None:
    (datasets / "mnist").mkdir()
    (datasets / "mnist" / name).write_bytes(b"mine")
    before = contents(datasets)
    assert "MNIST files of your own" in fill_sample(mnist)
    assert contents(datasets) == before


def test_a_sample_that_was_made_on_a_machine_is_checked(mnist: Dataset, datasets: Path) -> None:
    mnist_sample.fill(datasets / "mnist")
    before = contents(datasets)
    assert "is there: 5000 images" in fill_sample(mnist)
    assert contents(datasets) == before
    (datasets / "mnist" / SAMPLE).write_bytes(b"half")
    before = contents(datasets)
    with pytest.raises(Refused) as refused:
        fill_sample(mnist)
    assert str(refused.value).startswith(f"/srv/training/datasets/mnist/{SAMPLE} is damaged")
    assert contents(datasets) == before


def test_other_files_in_the_place_of_the_sample_are_refused(mnist: Dataset, datasets: Path) -> None:
    (datasets / "mnist").mkdir()
    (datasets / "mnist" / "notes").write_text("mine")
    before = contents(datasets)
    with pytest.raises(Refused, match="holds files, but none of MNIST: write source: provided"):
        fill_sample(mnist)
    assert contents(datasets) == before


def test_a_claim_is_copied_with_what_its_links_lead_to(images: Dataset, source: Path) -> None:
    assert fill_from_claim(images, "old", "data", source) == (
        "/srv/training/datasets/images was filled from data of claim old: 4 files"
    )
    assert arrived(images.folder) == EVERYTHING


def test_a_whole_claim_is_copied(images: Dataset, source: Path) -> None:
    assert "was filled from claim old: 5 files" in fill_from_claim(images, "old", ".", source)


@pytest.mark.parametrize("path", ["absent", "data/a b"])
def test_a_claim_without_the_folder_is_refused(
    images: Dataset, datasets: Path, source: Path, path: str
) -> None:
    with pytest.raises(Refused, match=f"^claim old has no folder {path}$"):
        fill_from_claim(images, "old", path, source)
    assert names(datasets) == []


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("/etc", "data/link in claim old is a link that leads out of it"),
        ("/etc/passwd", "data/link in claim old is a link that leads out of it"),
        ("..", "data/link/data in claim old is a link that leads to a folder it lies in"),
        (".", "data/link in claim old is a link that leads to a folder it lies in"),
        ("nothing", "data/link in claim old cannot be read: No such file or directory"),
    ],
)
def test_links_that_cannot_be_followed_are_refused(
    images: Dataset, datasets: Path, source: Path, target: str, told: str
) -> None:
    (source / "data" / "link").symlink_to(target)
    with pytest.raises(Refused) as refused:
        fill_from_claim(images, "old", "data", source)
    assert refused.value.sentences == (told,)
    assert names(datasets) == []


def test_a_file_that_may_not_be_read_is_refused(
    images: Dataset, root: Path, datasets: Path, request: pytest.FixtureRequest
) -> None:
    # Beside the datasets: a user other than root must get there.
    source = root / "source"
    source.mkdir()
    (source / "secret").write_text("")
    (source / "secret").chmod(0)
    datasets.chmod(0o777)
    request.getfixturevalue("as_user")
    with pytest.raises(Refused, match=r"^secret in claim old cannot be read: Permission denied$"):
        fill_from_claim(images, "old", ".", source)
    assert names(datasets) == []


def copied(dataset: Dataset, source: Path, status: Path) -> None:
    """What the container of the user's image does, with its paths in place of the pod's."""
    script = _COPY.replace("/filling/", f"{dataset.data}/").replace("/status/", f"{status}/")
    ran = subprocess.run(["sh", "-c", script, "sh", str(source)], check=True, capture_output=True)
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_an_image_is_copied_with_what_its_links_lead_to(
    images: Dataset, datasets: Path, source: Path, status: Path
) -> None:
    assert begin_image(images, status) == "/srv/training/datasets/images is to be filled"
    copied(images, source / "data", status)
    assert finish_image(images, IMAGE, "/data", status) == (
        f"/srv/training/datasets/images was filled from /data of image {IMAGE}: 4 files"
    )
    assert names(datasets) == ["images"]
    assert arrived(images.folder) == EVERYTHING


def test_from_an_image_once_is_enough(
    images: Dataset, datasets: Path, source: Path, status: Path
) -> None:
    begin_image(images, status)
    copied(images, source / "data", status)
    finish_image(images, IMAGE, "/data", status)
    before = contents(datasets)
    assert begin_image(images, status).endswith("is there: nothing is copied")
    copied(images, source / "data", status)
    assert names(images.data) == []
    assert "nothing was changed" in finish_image(images, IMAGE, "/data", status)
    assert contents(datasets) == before


def test_a_folder_that_the_image_lacks_is_refused(
    images: Dataset, datasets: Path, source: Path, status: Path
) -> None:
    begin_image(images, status)
    copied(images, source / "absent", status)
    with pytest.raises(Refused, match=r"images is not filled from /data of image .*/absent"):
        finish_image(images, IMAGE, "/data", status)
    assert names(datasets) == []


def test_an_image_whose_copy_was_stopped_is_refused(
    images: Dataset, datasets: Path, status: Path
) -> None:
    begin_image(images, status)
    (images.data / "half").write_text("")
    with pytest.raises(Refused, match="was not copied"):
        finish_image(images, IMAGE, "/data", status)
    assert names(datasets) == []


def test_a_damaged_dataset_is_refused_though_the_image_has_it(
    images: Dataset, datasets: Path, source: Path, status: Path
) -> None:
    begin_image(images, status)
    copied(images, source / "data", status)
    finish_image(images, IMAGE, "/data", status)
    (images.folder / "a b").write_text("b")
    before = contents(datasets)
    begin_image(images, status)
    copied(images, source / "data", status)
    with pytest.raises(Refused, match="images/a b has another SHA-256"):
        finish_image(images, IMAGE, "/data", status)
    assert contents(datasets) == before


def test_another_that_was_quicker_with_an_image_is_used(
    images: Dataset, other: Volume, datasets: Path, source: Path, status: Path, tmp_path: Path
) -> None:
    begin_image(images, status)
    theirs = Dataset(other, "images")
    their_status = tmp_path / "their-status"
    their_status.mkdir()
    begin_image(theirs, their_status)
    copied(images, source / "data", status)
    copied(theirs, source / "data", their_status)
    assert "was filled" in finish_image(theirs, IMAGE, "/data", their_status)
    assert not images.data.exists()
    assert "nothing was changed" in finish_image(images, IMAGE, "/data", status)
    assert names(datasets) == ["images"]


def test_modes_of_an_image_do_not_stand_in_the_way(
    images: Dataset, source: Path, status: Path
) -> None:
    (source / "data" / "deep").chmod(0o555)
    begin_image(images, status)
    copied(images, source / "data", status)
    assert "was filled" in finish_image(images, IMAGE, "/data", status)
    assert stat.S_IMODE((images.folder / "deep").stat().st_mode) & 0o700 == 0o700
    (source / "data" / "deep").chmod(0o755)
    shutil.rmtree(images.folder)
