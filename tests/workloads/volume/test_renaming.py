"""A stack that was renamed keeps its directories, and gets no one else's."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workloads.volume.conftest import OTHER, OWNER
from workloads.volume.__main__ import main
from workloads.volume.owner_mark import MARK
from workloads.volume.place import Refused, Volume
from workloads.volume.prepare import prepare
from workloads.volume.renaming import renamed


@pytest.fixture
def names(tmp_path: Path) -> Path:
    """The file that tells what the stack was called."""
    file = tmp_path / "formerly"
    file.write_text(json.dumps([OTHER]))
    return file


def owner(root: Path, directory: str) -> str:
    return str(json.loads((root / directory / MARK).read_text())["stack"])


def test_what_it_marked_under_its_former_name_is_marked_anew(
    volume: Volume, other: Volume, root: Path, names: Path
) -> None:
    prepare(other, {"a": "a", "deep/b": "b"})
    assert prepare(renamed(volume, names), {"a": "a", "deep/b": "b", "c": "c"}) == [
        "/srv/training/c was made",
        "/srv/training/a is now of job a",
        "/srv/training/deep/b is now of job b",
    ]
    assert {owner(root, directory) for directory in ("a", "deep/b", "c")} == {OWNER}


def test_another_stack_of_the_former_name_keeps_what_it_marks_later(
    volume: Volume, other: Volume, root: Path, names: Path
) -> None:
    prepare(other, {"a": "a"})
    prepare(renamed(volume, names), {"a": "a"})
    prepare(other, {"theirs": "a"})
    with pytest.raises(Refused, match="theirs belongs to job a of stack"):
        prepare(renamed(volume, names), {"a": "a", "theirs": "b"})
    with pytest.raises(Refused, match="/a belongs to job a of stack"):
        prepare(other, {"a": "a"})


def test_a_refused_renaming_goes_on_with_the_next_run(
    volume: Volume, other: Volume, root: Path, names: Path
) -> None:
    prepare(other, {"a": "a"})
    third = replace(other, owner="a.third.stack")
    prepare(third, {"b": "b"})
    with pytest.raises(Refused, match="b belongs to job b of stack"):
        prepare(renamed(volume, names), {"a": "a", "b": "b"})
    prepare(renamed(volume, names), {"a": "a"})
    assert owner(root, "a") == OWNER


def test_it_may_be_renamed_back_and_forth(
    volume: Volume, other: Volume, root: Path, names: Path
) -> None:
    prepare(other, {"a": "a"})
    formerly = [OTHER]
    for now in (volume, other, volume, other):
        names.write_text(json.dumps(formerly))
        prepare(renamed(now, names), {"a": "a"})
        assert owner(root, "a") == now.owner
        formerly.append(now.owner)


@pytest.mark.parametrize("content", [None, "", "{", "[]", "3"])
def test_without_former_names_all_is_as_ever(
    volume: Volume, other: Volume, names: Path, content: str | None
) -> None:
    names.unlink()
    if content is not None:
        names.write_text(content)
    prepare(other, {"a": "a"})
    with pytest.raises(Refused, match="a belongs to job a of stack"):
        prepare(renamed(volume, names), {"a": "a"})
    assert sorted(path.name for path in (volume.root / "datasets").iterdir()) == []


def test_the_program_is_told_by_a_file(
    root: Path, other: Volume, names: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(other, {"a": "a"})
    place = [f"--root={root}", "--path=/srv", "--where=the node", f"--owner={OWNER}"]
    assert main(["prepare", *place, f"--formerly={names}", "--directory=a=a"]) == 0
    assert capsys.readouterr().out == "/srv/a is now of job a\n"
