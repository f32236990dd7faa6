"""Where the data of a dataset comes from."""

from __future__ import annotations

from pathlib import Path

from workloads.datasets.mnist_directory import DatasetError, missing
from workloads.volume.copying import copy
from workloads.volume.download import download, file_name, shown_url
from workloads.volume.filling import Dataset, begin, fill, fill_after
from workloads.volume.place import Refused
from workloads.volume.record import RECORD
from workloads.volume.unpack import is_archive, unpack

_SKIP, _CODE, _ERRORS = "skip", "code", "errors"


def fill_sample(dataset: Dataset) -> str:
    """The 5,000 images of MNIST, or the user's own files of it."""
    # Here and not above: it loads NumPy, which the other sources do without.
    from workloads.datasets import mnist_sample

    folder = dataset.folder
    try:
        own = folder.is_dir() and any(folder.iterdir()) and not (folder / RECORD).exists()
        if own and len(missing(folder)) < 2:
            return mnist_sample.fill(folder)
        if own:
            raise Refused(
                f"{dataset.shown} holds files, but none of MNIST: write source: provided if they "
                "are meant, or remove it and it is filled with the sample"
            )
        return fill(dataset, "the sample of mnist", lambda data: _make_sample(data))
    except DatasetError as error:
        raise Refused(str(error).replace(str(folder), dataset.shown)) from None


def fill_from_url(dataset: Dataset, url: str, sha256: str) -> str:
    """The file at `url`, unpacked where it is an archive."""

    def gather(data: Path) -> None:
        name = file_name(url)
        if not is_archive(name):
            download(url, sha256, data / name)
            return
        # Beside the data, in the folder that is removed in the end.
        archive = data.parent / "archive"
        download(url, sha256, archive)
        unpack(archive, name, data)
        archive.unlink()

    return fill(dataset, shown_url(url), gather)


def fill_from_claim(dataset: Dataset, claim: str, path: str, mounted: Path) -> str:
    """The folder `path` of another claim, which is mounted at `mounted`."""
    shown = f"claim {claim}"
    source = shown if path == "." else f"{path} of {shown}"
    return fill(dataset, source, lambda data: copy(mounted, path, data, shown))


def begin_image(dataset: Dataset, status: Path) -> str:
    """The folder is there that a container of the user's image copies into, once this one has
    ended. `status` is what the two tell each other by.

    What is to be refused is by finish_image, whose sentence reaches the user.
    """
    begin(dataset)
    folder = dataset.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        (status / _SKIP).touch()
        return f"{dataset.shown} is there: nothing is copied"
    return f"{dataset.shown} is to be filled"


def finish_image(dataset: Dataset, image: str, path: str, status: Path) -> str:
    """The dataset is there afterwards, by what was copied from `path` in `image`."""
    source = f"{path} of image {image}"
    return fill_after(
        dataset, source, lambda: _check_copied(dataset, source, status), lambda copied: None
    )


def _check_copied(dataset: Dataset, source: str, status: Path) -> None:
    try:
        code = (status / _CODE).read_text().strip()
    except FileNotFoundError:
        raise Refused(f"{dataset.shown} is not filled: {source} was not copied") from None
    if code != "0":
        lines = (status / _ERRORS).read_text(errors="replace").splitlines() or [f"exit code {code}"]
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        raise Refused(f"{dataset.shown} is not filled from {source}: {lines[0]}{more}")


def _make_sample(data: Path) -> None:
    from workloads.datasets import mnist_sample

    mnist_sample.fill(data)
