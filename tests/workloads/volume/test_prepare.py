"""Preparing the volume: folders are made, marked and usable; what is another's is refused."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workloads.volume.conftest import OTHER, OWNER
from tests.workloads.volume.harness import contents, names, run_killed_at, was_killed
from workloads.volume import owner_mark
from workloads.volume import prepare as prepare_module
from workloads.volume.__main__ import main
from workloads.volume.owner_mark import MARK
from workloads.volume.place import Refused, Volume
from workloads.volume.prepare import prepare


def refusals(volume: Volume, directories: dict[str, str]) -> list[str]:
    """What is refused; nothing may have changed then."""
    before = contents(volume.root)
    with pytest.raises(Refused) as refused:
        prepare(volume, directories)
    assert contents(volume.root) == before
    return list(refused.value.sentences)


def belongs(path: str, job: str, stack: str, mine: str, mark: str = "") -> str:
    return (
        f"{path} belongs to job {job} of stack {stack}: set another "
        f"ack-training:jobs.{mine}.directory or ack-training:storage; if that stack no longer "
        f"exists, remove {mark or path}/{MARK}"
    )


def test_every_level_is_there_for_the_group_and_marked(volume: Volume, root: Path) -> None:
    lines = prepare(volume, {"mnist": "mnist", "team/deep/b": "b"})
    assert lines == [
        "/srv/training/datasets was made",
        "/srv/training/mnist was made",
        "/srv/training/team was made",
        "/srv/training/team/deep was made",
        "/srv/training/team/deep/b was made",
    ]
    for path in ("datasets", "mnist", "team", "team/deep", "team/deep/b"):
        status = (root / path).stat()
        assert stat.S_IMODE(status.st_mode) == 0o2775, path
        assert (status.st_uid, status.st_gid) == (os.geteuid(), os.getegid())
    assert json.loads((root / "mnist" / MARK).read_text()) == {"stack": OWNER, "job": "mnist"}
    assert json.loads((root / "team/deep/b" / MARK).read_text()) == {"stack": OWNER, "job": "b"}
    assert names(root / "datasets") == []
    assert names(root / "mnist") == [MARK]


def test_a_second_run_changes_nothing_and_says_so(volume: Volume, root: Path) -> None:
    prepare(volume, {"mnist": "mnist", "team/b": "b"})
    (root / "mnist" / "checkpoints").mkdir()
    before = contents(root)
    assert prepare(volume, {"mnist": "mnist", "team/b": "b"}) == [
        "/srv/training is prepared: nothing was changed"
    ]
    assert contents(root) == before


def test_a_mode_that_the_user_set_stays(volume: Volume, root: Path) -> None:
    prepare(volume, {"mnist": "mnist"})
    (root / "mnist").chmod(0o700)
    prepare(volume, {"mnist": "mnist"})
    assert stat.S_IMODE((root / "mnist").stat().st_mode) == 0o700


def test_what_is_in_a_folder_stays(volume: Volume, root: Path) -> None:
    (root / "mnist" / "checkpoints").mkdir(parents=True)
    (root / "mnist" / "checkpoints" / "a").write_text("a")
    before = contents(root)
    assert prepare(volume, {"mnist": "mnist"})[-1] == "/srv/training/mnist is now of job mnist"
    after = contents(root)
    assert {path: after[path] for path in before} == before


def test_a_directory_goes_from_one_job_to_another_of_the_same_stack(
    volume: Volume, root: Path
) -> None:
    prepare(volume, {"a": "a", "b": "b"})
    assert prepare(volume, {"a": "b", "b": "a"}) == [
        "/srv/training/a is now of job b",
        "/srv/training/b is now of job a",
    ]
    assert json.loads((root / "a" / MARK).read_text())["job"] == "b"


def test_all_that_is_anothers_is_refused_at_once(volume: Volume, other: Volume) -> None:
    prepare(other, {"a": "x", "deep/b": "y", "c/d": "z"})
    assert refusals(volume, {"a": "a", "deep/b/mine": "b", "c": "c", "free": "free"}) == [
        belongs("/srv/training/a", "x", OTHER, "a"),
        belongs(
            "/srv/training/deep/b/mine lies in /srv/training/deep/b, which",
            *("y", OTHER, "b", "/srv/training/deep/b"),
        ),
        belongs(
            "/srv/training/c holds /srv/training/c/d, which",
            *("z", OTHER, "c", "/srv/training/c/d"),
        ),
    ]


def test_what_the_refusal_advises_helps(volume: Volume, other: Volume, root: Path) -> None:
    prepare(other, {"a": "x"})
    (sentence,) = refusals(volume, {"a": "a"})
    mark = sentence.rpartition("remove /srv/training/")[2]
    (root / mark).unlink()
    assert prepare(volume, {"a": "a"}) == ["/srv/training/a is now of job a"]


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"stack": "a"}', b"\xff"])
def test_a_mark_that_cannot_be_read_is_anothers(volume: Volume, root: Path, broken: bytes) -> None:
    (root / "a").mkdir()
    (root / "a" / MARK).write_bytes(broken)
    (sentence,) = refusals(volume, {"a": "a"})
    assert sentence == (
        "/srv/training/a belongs to a job whose mark cannot be read: set another "
        "ack-training:jobs.a.directory or ack-training:storage; if there is no such job, remove "
        f"/srv/training/a/{MARK}"
    )


def test_a_job_on_a_machine_that_has_the_folder_too_is_another(volume: Volume, root: Path) -> None:
    (root / "a").mkdir()
    state = {"state": "/home/u/project/.pulumi-state/dev/jobs/x"}
    (root / "a" / MARK).write_text(json.dumps(state))
    assert refusals(volume, {"a": "a"}) == [
        belongs("/srv/training/a", "x", "/home/u/project/.pulumi-state/dev", "a")
    ]


def test_a_link_inside_the_volume_counts_as_where_it_leads(
    volume: Volume, other: Volume, root: Path
) -> None:
    prepare(other, {"theirs/a": "x"})
    (root / "link").symlink_to("theirs")
    assert refusals(volume, {"link/a": "a"}) == [
        belongs("/srv/training/link/a", "x", OTHER, "a", "/srv/training/theirs/a")
    ]


def test_a_link_to_elsewhere_is_refused(volume: Volume, root: Path, tmp_path: Path) -> None:
    (root / "a").symlink_to(tmp_path)
    (root / "b").symlink_to("nothing")
    (root / "c").symlink_to("c")
    (root / "datasets").symlink_to(tmp_path)
    found = refusals(volume, {"a/x": "a", "b": "b", "c": "c"})
    assert found == [
        "/srv/training/datasets leads out of the volume, by a link: pods cannot follow it",
        "/srv/training/a/x leads out of the volume, by a link: pods cannot follow it",
        "/srv/training/b is a link to nothing: remove it",
        "/srv/training/c is a link to nothing: remove it",
    ]


def test_a_file_in_the_way_is_refused(volume: Volume, root: Path) -> None:
    (root / "a").write_text("")
    (root / "datasets").write_text("")
    assert refusals(volume, {"a/b": "a"}) == [
        "/srv/training/datasets is a file; it must be a folder",
        "/srv/training/a is a file; it must be a folder",
    ]


def test_two_jobs_that_a_link_leads_to_one_folder_are_refused(volume: Volume, root: Path) -> None:
    prepare(volume, {"b": "b"})
    (root / "a").symlink_to("b")
    (root / "data").symlink_to("datasets")
    assert refusals(volume, {"a": "a", "b": "b", "data/c": "c"}) == [
        "/srv/training/b is in /srv/training/a, the directory of job a: "
        "set another ack-training:jobs.b.directory",
        "/srv/training/data/c is in /srv/training/datasets, for datasets: "
        "set another ack-training:jobs.c.directory",
    ]


def test_a_file_system_that_tells_no_capital_letters_shows_two_jobs_in_one(
    volume: Volume, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = prepare_module._chain
    monkeypatch.setattr(
        prepare_module,
        "_chain",
        lambda volume, folder: chain(volume, Path(str(folder).replace("/Mnist", "/mnist"))),
    )
    assert refusals(volume, {"Mnist": "a", "mnist/b": "b"}) == [
        "/srv/training/mnist/b is in /srv/training/Mnist, the directory of job a: "
        "set another ack-training:jobs.b.directory"
    ]


def test_a_root_that_is_not_writable(volume: Volume, root: Path, as_user: tuple[int, int]) -> None:
    user, group = as_user
    # Root's, or one's own without the right to write.
    if os.stat(root).st_uid == os.geteuid():
        root.chmod(0o555)
    assert refusals(volume, {"a": "a"}) == [
        f"/srv/training is not writable for user {user}, group {group}: "
        f"on the node run chown {user}:{group} /srv/training"
    ]


@pytest.fixture
def theirs(root: Path) -> Callable[[str], None]:
    """Makes a folder that the user of the pod may not write in."""

    def make(path: str) -> None:
        (root / path).mkdir(parents=True)
        (root / path).chmod(0o555)

    return make


def test_all_folders_that_are_not_writable_are_told_at_once(
    volume: Volume, root: Path, theirs: Callable[[str], None], request: pytest.FixtureRequest
) -> None:
    for path in ("datasets", "a", "b/checkpoints"):
        theirs(path)
    (root / "b").chmod(0o777)
    root.chmod(0o777)
    user, group = request.getfixturevalue("as_user")
    assert refusals(volume, {"a/deep": "a", "b": "b", "c": "c"}) == [
        f"/srv/training/{path} is not writable for user {user}, group {group}: "
        f"on the node run chown {user}:{group} /srv/training/{path}"
        for path in ("datasets", "a", "b/checkpoints")
    ]


def test_a_user_who_may_write_needs_not_own_the_root(
    volume: Volume, root: Path, request: pytest.FixtureRequest
) -> None:
    root.chmod(0o777)
    user, group = request.getfixturevalue("as_user")
    prepare(volume, {"a": "a"})
    status = (root / "a").stat()
    assert (status.st_uid, status.st_gid) == (user, group)
    assert stat.S_IMODE(status.st_mode) == 0o2775


@pytest.mark.parametrize("quicker", ["a", "a/b", "b"])
def test_of_two_stacks_at_once_only_one_has_a_directory(
    volume: Volume, other: Volume, root: Path, monkeypatch: pytest.MonkeyPatch, quicker: str
) -> None:
    """The other comes just before this one's mark is put there."""
    put = owner_mark._put_first
    theirs = {"a": "a", "a/b": "a/b", "b": "b"}[quicker]

    def late(aside: Path, target: Path) -> bool:
        monkeypatch.setattr(owner_mark, "_put_first", put)
        prepare(other, {theirs: "x"})
        return put(aside, target)

    monkeypatch.setattr(owner_mark, "_put_first", late)
    wanted = {"a": "a"} if quicker != "b" else {"b/c": "a"}
    with pytest.raises(Refused, match=f"belongs to job x of stack {OTHER}"):
        prepare(volume, wanted)
    # It has taken back what it had marked, and the other's stays.
    marks = {path.parent: owner_mark.owner_of(path.parent) for path in root.rglob(MARK)}
    assert marks == {root / theirs: owner_mark.Owner(OTHER, "x")}


def test_a_file_system_without_hard_links(
    volume: Volume, other: Volume, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(source))

    monkeypatch.setattr(os, "link", link)
    prepare(volume, {"a": "a"})
    assert names(root / "a") == [MARK]
    assert refusals(other, {"a": "x"}) == [belongs("/srv/training/a", "a", OWNER, "x")]


def test_killed_at_any_step_the_next_run_finishes(volume: Volume, root: Path) -> None:
    arguments = [
        *("prepare", f"--root={root}", "--path=/srv/training", "--where=the node"),
        *(f"--owner={OWNER}", "--directory=a=a", "--directory=deep/b=b"),
    ]
    kills = 0
    while was_killed(ran := run_killed_at(kills + 1, arguments)):
        kills += 1
        assert main(arguments) == 0
        assert names(root) == ["a", "datasets", "deep"]
        assert names(root / "a") == names(root / "deep/b") == [MARK]
        assert all(
            stat.S_IMODE((root / path).stat().st_mode) == 0o2775
            for path in ("a", "datasets", "deep", "deep/b")
        )
        for path in ("a", "deep/b"):
            (root / path / MARK).unlink()
        for path in ("a", "datasets", "deep/b", "deep"):
            (root / path).rmdir()
    assert ran.returncode == 0, ran.stderr
    assert kills > 8
