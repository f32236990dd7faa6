"""What a stack config names on this machine."""

import os
from pathlib import Path
from typing import Any

import pytest

import config


def lines(project: Path, **sections: Any) -> list[str]:
    try:
        config.parse({"target": "local", **sections}, project_directory=project)
    except config.ConfigErrors as errors:
        return errors.lines
    return []


def refused(project: Path, path: Path | str) -> str:
    (line,) = lines(project, storage={"path": str(path)})
    return line


@pytest.mark.parametrize("path", ["data", "a/b/c", "./data/", "there", "there/below", "linked/x"])
def test_a_folder_that_is_or_can_be_made_is_taken(tmp_path: Path, path: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "linked").symlink_to("there")
    before = sorted(tmp_path.rglob("*"))
    assert lines(tmp_path, storage={"path": path}) == []
    assert lines(tmp_path, storage={"path": str(tmp_path / path)}) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    told = f"ack-training:storage.path: {tmp_path}/file is a file; it must be a folder"
    assert refused(tmp_path, "file") == told
    assert refused(tmp_path, "file/below") == told
    assert refused(tmp_path, tmp_path / "file") == told


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to("nowhere")
    told = f"ack-training:storage.path: {tmp_path}/gone is a link to nothing"
    assert refused(tmp_path, "gone") == told
    assert refused(tmp_path, "gone/below") == told


def test_a_loop_of_links_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert refused(tmp_path, "a/x").startswith("ack-training:storage.path: ")


def test_a_name_that_is_too_long_is_one_line(tmp_path: Path) -> None:
    assert refused(tmp_path, "x" * 300).startswith("ack-training:storage.path: cannot be used: ")


def test_a_folder_that_this_user_may_not_write_in_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Asked of the system, since these tests may run as root, who may write anywhere.
    may = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: place != tmp_path and may(place, mode))
    told = f"ack-training:storage.path: this user may not write in {tmp_path}"
    assert refused(tmp_path, "data") == told


def test_programs_and_the_folder_are_told_in_one_go(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "m.py").write_text("import other\ndef f(:\n")
    (tmp_path / "n.py").write_text("import other\n")
    (tmp_path / "other.py").write_text("x = (\n")
    jobs = {name: {"program": f"{name}.py", "chief": {}} for name in ("m", "n")}
    assert lines(tmp_path, storage={"path": "file"}, jobs=jobs) == [
        "ack-training:jobs.m.program: m.py, line 2: invalid syntax",
        "ack-training:jobs.n.program: other.py, line 1: '(' was never closed",
        f"ack-training:storage.path: {tmp_path}/file is a file; it must be a folder",
    ]


def test_a_program_that_this_user_may_not_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.py").write_text("")

    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", denied)
    (line,) = lines(tmp_path, jobs={"m": {"program": "m.py", "chief": {}}})
    assert line == f"ack-training:jobs.m.program: cannot read {tmp_path}/m.py: Permission denied"
