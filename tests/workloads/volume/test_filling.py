"""A dataset's folder is whole or not there, whoever fills it, is killed, or damages it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workloads.volume.harness import contents, names
from workloads.volume.filling import Dataset, begin, fill
from workloads.volume.place import Refused, Volume
from workloads.volume.record import RECORD


@pytest.fixture
def dataset(volume: Volume, datasets: Path) -> Dataset:
    return Dataset(volume, "texts")


def gather(data: Path) -> None:
    (data / "a").write_text("aaa")
    (data / "deep").mkdir()
    (data / "deep" / "b").write_text("b")
    (data / "deep" / "link").symlink_to("../a")


def never(data: Path) -> None:
    raise AssertionError("nothing is to be gathered")


def test_it_is_filled_and_then_left_alone(dataset: Dataset, datasets: Path) -> None:
    assert fill(dataset, "x", gather) == ("/srv/training/datasets/texts was filled from x: 3 files")
    assert names(datasets) == ["texts"]
    assert names(datasets / "texts") == [RECORD, "a", "deep"]
    before = contents(datasets)
    assert fill(dataset, "x", never) == (
        "/srv/training/datasets/texts is there, from x; nothing was changed"
    )
    assert contents(datasets) == before


def test_from_another_source_it_is_left_alone_and_said(dataset: Dataset, datasets: Path) -> None:
    fill(dataset, "x", gather)
    before = contents(datasets)
    assert fill(dataset, "y", never) == (
        "/srv/training/datasets/texts is there, from x; remove it to have it filled from y"
    )
    assert contents(datasets) == before


def test_a_folder_of_the_users_is_left_alone(dataset: Dataset, datasets: Path) -> None:
    (datasets / "texts").mkdir()
    (datasets / "texts" / "mine").write_text("mine")
    before = contents(datasets)
    assert "files of your own; they are left alone" in fill(dataset, "x", never)
    assert contents(datasets) == before


def test_files_that_the_user_adds_are_left_alone(dataset: Dataset, datasets: Path) -> None:
    fill(dataset, "x", gather)
    (datasets / "texts" / "mine").write_text("mine")
    assert "nothing was changed" in fill(dataset, "x", never)
    assert (datasets / "texts" / "mine").read_text() == "mine"


def test_an_empty_folder_is_filled(dataset: Dataset, datasets: Path) -> None:
    (datasets / "texts").mkdir()
    assert "was filled" in fill(dataset, "x", gather)
    assert (datasets / "texts" / "a").read_text() == "aaa"


def truncate(folder: Path) -> None:
    (folder / "a").write_text("a")


def change(folder: Path) -> None:
    times = (folder / "a").stat()
    (folder / "a").write_text("aab")
    os.utime(folder / "a", ns=(times.st_atime_ns, times.st_mtime_ns))


def remove(folder: Path) -> None:
    (folder / "deep" / "b").unlink()


def lead_elsewhere(folder: Path) -> None:
    (folder / "deep" / "link").unlink()
    (folder / "deep" / "link").symlink_to("b")


def put_a_folder_there(folder: Path) -> None:
    (folder / "a").unlink()
    (folder / "a").mkdir()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (truncate, "a is 1 bytes long, not 3"),
        (change, "a has another SHA-256 than the one recorded"),
        (remove, "deep/b is missing"),
        (lead_elsewhere, "deep/link leads elsewhere"),
        (put_a_folder_there, "a is "),
    ],
)
def test_damage_is_refused_by_name_and_left(
    dataset: Dataset, datasets: Path, damage: Callable[[Path], None], told: str
) -> None:
    fill(dataset, "x", gather)
    damage(datasets / "texts")
    before = contents(datasets)
    with pytest.raises(Refused) as refused:
        fill(dataset, "x", never)
    (sentence,) = refused.value.sentences
    assert sentence.startswith(f"/srv/training/datasets/texts/{told}")
    assert sentence.endswith(": remove /srv/training/datasets/texts and it is filled again")
    assert contents(datasets) == before


def test_much_damage_is_told_in_one_line(dataset: Dataset, datasets: Path) -> None:
    def many(data: Path) -> None:
        for name in "abcdef":
            (data / name).write_text(name)

    fill(dataset, "x", many)
    for name in "abcde":
        (datasets / "texts" / name).unlink()
    with pytest.raises(Refused, match="texts/c is missing and more: remove"):
        fill(dataset, "x", never)


@pytest.mark.parametrize("broken", [b"", b"{", b"[]\n", b"{}\n", b'{"source": 1}\n', b"\xff"])
def test_a_record_that_cannot_be_read_is_refused(
    dataset: Dataset, datasets: Path, broken: bytes
) -> None:
    fill(dataset, "x", gather)
    (datasets / "texts" / RECORD).write_bytes(broken)
    before = contents(datasets)
    with pytest.raises(Refused, match=f"texts/{RECORD} cannot be read: remove the folder and"):
        fill(dataset, "x", never)
    assert contents(datasets) == before


def test_a_record_that_is_cut_off_is_refused(dataset: Dataset, datasets: Path) -> None:
    fill(dataset, "x", gather)
    record = datasets / "texts" / RECORD
    record.write_bytes(record.read_bytes()[:-5])
    with pytest.raises(Refused, match="cannot be read"):
        fill(dataset, "x", never)


def test_a_file_in_its_place_is_refused(dataset: Dataset, datasets: Path) -> None:
    (datasets / "texts").write_text("")
    with pytest.raises(Refused, match="datasets/texts is not a folder: remove it"):
        fill(dataset, "x", never)


def test_what_fails_leaves_nothing(dataset: Dataset, datasets: Path) -> None:
    def full(data: Path) -> None:
        gather(data)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left"):
        fill(dataset, "x", full)
    assert names(datasets) == []


def test_nothing_gathered_is_refused(dataset: Dataset, datasets: Path) -> None:
    with pytest.raises(Refused, match="cannot be filled: x holds no file"):
        fill(dataset, "x", lambda data: None)
    assert names(datasets) == []


@pytest.mark.parametrize(
    ("target", "told"),
    [("/etc/passwd", "leads out"), ("../../secret", "leads out")],
)
def test_a_link_out_of_the_data_is_refused(
    dataset: Dataset, datasets: Path, target: str, told: str
) -> None:
    with pytest.raises(Refused, match=told):
        fill(dataset, "x", lambda data: (data / "link").symlink_to(target))
    assert names(datasets) == []


def test_what_is_no_file_is_refused(dataset: Dataset, datasets: Path) -> None:
    with pytest.raises(Refused, match="no file: 'pipe'"):
        fill(dataset, "x", lambda data: os.mkfifo(data / "pipe"))
    assert names(datasets) == []


def test_a_record_in_the_data_is_refused(dataset: Dataset, datasets: Path) -> None:
    with pytest.raises(Refused, match=f"holds a file {RECORD}"):
        fill(dataset, "x", lambda data: (data / RECORD).touch())
    assert names(datasets) == []


def test_folders_that_are_read_only_are_filled_in_and_removed_again(
    dataset: Dataset, datasets: Path, root: Path, request: pytest.FixtureRequest
) -> None:
    def read_only(data: Path) -> None:
        gather(data)
        (data / "deep").chmod(0o555)
        data.chmod(0o555)

    def failing(data: Path) -> None:
        read_only(data)
        raise OSError("no")

    root.chmod(0o777)
    datasets.chmod(0o777)
    request.getfixturevalue("as_user")
    with pytest.raises(OSError, match="no"):
        fill(dataset, "x", failing)
    assert names(datasets) == []
    assert "was filled" in fill(dataset, "x", read_only)
    assert names(datasets) == ["texts"]


def test_datasets_that_is_not_writable(
    dataset: Dataset, datasets: Path, request: pytest.FixtureRequest
) -> None:
    datasets.chmod(0o555)
    user, group = request.getfixturevalue("as_user")
    with pytest.raises(Refused) as refused:
        fill(dataset, "x", never)
    assert refused.value.sentences == (
        f"/srv/training/datasets is not writable for user {user}, group {group}: on the node run "
        f"chown {user}:{group} /srv/training/datasets",
    )


def test_names_that_are_no_text_are_recorded(dataset: Dataset, datasets: Path) -> None:
    name = os.fsdecode(b"\xff\xfe\n")
    fill(dataset, "x", lambda data: (data / name).touch())
    assert "nothing was changed" in fill(dataset, "x", never)
    (datasets / "texts" / name).unlink()
    with pytest.raises(Refused, match="is missing"):
        fill(dataset, "x", never)


def test_another_that_was_quicker_is_used(dataset: Dataset, other: Volume, datasets: Path) -> None:
    """The other stack is done while this one gathers, and has removed what this one has."""

    def slow(data: Path) -> None:
        gather(data)
        assert "was filled" in fill(Dataset(other, "texts"), "x", gather)
        assert not data.exists()

    assert "is there, from x" in fill(dataset, "x", slow)
    assert names(datasets) == ["texts"]


def test_another_that_comes_between_is_not_overwritten(
    dataset: Dataset, other: Volume, datasets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other stack's rename is the first, this one's the second."""
    rename = os.rename

    def late(source: Path, target: Path) -> None:
        if target == dataset.folder:
            monkeypatch.undo()
            (datasets / "texts").mkdir()
            (datasets / "texts" / "theirs").write_text("theirs")
        rename(source, target)

    monkeypatch.setattr(os, "rename", late)
    assert "files of your own" in fill(dataset, "x", gather)
    assert names(datasets) == ["texts"]
    assert names(datasets / "texts") == ["theirs"]


def test_another_that_gathers_is_not_disturbed(
    dataset: Dataset, other: Volume, datasets: Path
) -> None:
    begin(Dataset(other, "texts"))
    gather(Dataset(other, "texts").data)

    def failing(data: Path) -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        fill(dataset, "x", failing)
    assert (Dataset(other, "texts").data / "a").read_text() == "aaa"


def test_a_dataset_with_a_longer_name_is_not_disturbed(
    dataset: Dataset, volume: Volume, datasets: Path
) -> None:
    longer = Dataset(volume, "texts-2")
    begin(longer)
    fill(dataset, "x", gather)
    assert longer.data.is_dir()


def test_what_a_killed_run_left_is_gone_once_it_is_filled(
    dataset: Dataset, other: Volume, datasets: Path
) -> None:
    for volume in (dataset.volume, other):
        begin(Dataset(volume, "texts"))
        (Dataset(volume, "texts").data / "half").write_text("")
    fill(dataset, "x", gather)
    assert names(datasets) == ["texts"]
    assert not (datasets / "texts" / "half").exists()


def test_what_others_may_read_stays_so(dataset: Dataset, datasets: Path) -> None:
    fill(dataset, "x", gather)
    assert stat.S_IMODE((datasets / "texts" / "a").stat().st_mode) & 0o444 == 0o444
