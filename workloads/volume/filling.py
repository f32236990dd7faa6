"""Fills a dataset's folder: aside first, then by one rename, so that it is whole or not there.

Nothing is locked, since locks of a network's file systems do not hold everywhere. Two stacks that
fill one folder have each a folder aside; the first rename counts, the other finds the data there.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workloads.volume.place import Refused, Volume, may_write, owner_token
from workloads.volume.record import damages, recorded_source, write_record

DATASETS = "datasets"
"""The folder of the volume that holds one folder for each dataset."""

_NAMED_AT_MOST = 3


def data_folder(name: str, owner: str) -> str:
    """Where `owner` gathers the files of dataset `name`, below DATASETS. A name of a dataset holds
    no dot, so these are of no other."""
    return f".filling-{name}.{owner_token(owner)}/data"


@dataclass(frozen=True)
class Dataset:
    """A folder below `datasets`, and the folder aside where this stack gathers what goes in."""

    volume: Volume
    name: str

    @property
    def folder(self) -> Path:
        return self.volume.root / DATASETS / self.name

    @property
    def data(self) -> Path:
        return self.volume.root / DATASETS / data_folder(self.name, self.volume.owner)

    @property
    def shown(self) -> str:
        return self.volume.shown(self.folder)


def found(dataset: Dataset, source: str) -> str | None:
    """A sentence on the data that is there; None where there is none, or an empty folder.

    Raises Refused for what is damaged, which is left: it may be the user's. Reads all of it.
    """
    folder = dataset.folder
    if not os.path.lexists(folder):
        return None
    if not folder.is_dir():
        raise Refused(f"{dataset.shown} is not a folder: remove it and it is filled")
    if not any(folder.iterdir()):
        return None
    recorded = recorded_source(folder)
    if recorded is None:
        return f"{dataset.shown} holds files of your own; they are left alone"
    wrong = list(itertools.islice(damages(folder), _NAMED_AT_MOST + 1))
    if wrong:
        named = ", ".join(f"{dataset.shown}/{path} {what}" for path, what in wrong[:_NAMED_AT_MOST])
        more = " and more" if len(wrong) > _NAMED_AT_MOST else ""
        raise Refused(f"{named}{more}: remove {dataset.shown} and it is filled again")
    if recorded != source:
        return (
            f"{dataset.shown} is there, from {recorded}; remove it to have it filled from {source}"
        )
    return f"{dataset.shown} is there, from {source}; nothing was changed"


def fill(dataset: Dataset, source: str, gather: Callable[[Path], None]) -> str:
    """The dataset is there afterwards: with what `gather` put into the folder that it was given,
    unless it was there before. Returns a sentence; raises Refused."""
    return fill_after(dataset, source, lambda: begin(dataset), gather)


def fill_after(
    dataset: Dataset, source: str, prepare: Callable[[], None], gather: Callable[[Path], None]
) -> str:
    """As `fill`, after another preparation than `begin`."""
    with undone(dataset):
        sentence = found(dataset, source)
        if sentence is None:
            prepare()
            try:
                gather(dataset.data)
                return publish(dataset, source)
            except (OSError, Refused):
                # Another stack's may be there by now, whose last step was to remove this one's.
                sentence = found(dataset, source)
                if sentence is None:
                    raise
        sweep(dataset)
        return sentence


def begin(dataset: Dataset) -> None:
    """An empty folder to gather files in is there afterwards; what a killed run left is gone."""
    datasets = dataset.folder.parent
    if not may_write(datasets):
        raise Refused(dataset.volume.not_writable(datasets))
    _discard(dataset, dataset.data.parent)
    dataset.data.mkdir(parents=True)


def publish(dataset: Dataset, source: str) -> str:
    """What was gathered is the dataset afterwards. OSError if another was quicker."""
    count = write_record(dataset.data, source)
    if count == 0:
        raise Refused(f"{dataset.shown} cannot be filled: {source} holds no file")
    os.rename(dataset.data, dataset.folder)
    _sync(dataset.folder.parent)
    sweep(dataset)
    return f"{dataset.shown} was filled from {source}: {count} {'file' if count == 1 else 'files'}"


def sweep(dataset: Dataset) -> None:
    """Removes all that was gathered aside, by whomever, once the dataset is there."""
    for place in dataset.folder.parent.glob(f".filling-{dataset.name}.*"):
        _discard(dataset, place)


@contextlib.contextmanager
def undone(dataset: Dataset) -> Iterator[None]:
    """What this stack gathered is removed when the block ends, whichever way."""
    try:
        yield
    finally:
        _discard(dataset, dataset.data.parent)


def _discard(dataset: Dataset, place: Path) -> None:
    """Removes a folder, by another name first: whoever was filling it cannot publish a part."""
    aside = place.with_name(f".filling-{dataset.name}.removed-{uuid.uuid4().hex}")
    try:
        os.rename(place, aside)
    except OSError:
        # It is not there, or not this user's.
        return
    # A folder of an archive or an image may be read-only.
    for folder, _, _ in os.walk(aside):
        with contextlib.suppress(OSError):
            os.chmod(folder, stat.S_IRWXU)
    # What cannot be removed now, such as a file that is open on another node, is by a later run.
    shutil.rmtree(aside, ignore_errors=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
