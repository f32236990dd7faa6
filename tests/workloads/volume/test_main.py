"""How the program speaks: on the terminal, and in the file that Kubernetes shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from workloads.volume.__main__ import main


@pytest.fixture
def message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "termination-log"
    path.write_text("")
    monkeypatch.setenv("MESSAGE_FILE", str(path))
    return path


def prepare(root: Path, owner: str, *directories: str) -> int:
    options = [f"--directory={directory}={directory}" for directory in directories]
    place = [f"--root={root}", "--path=/srv", "--where=the node", f"--owner={owner}"]
    return main(["prepare", *place, *options])


def test_what_was_done_is_told(
    root: Path, message: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(root, "a/b/c", "x") == 0
    told = "/srv/datasets was made\n/srv/x was made\n"
    assert capsys.readouterr() == (told, "")
    assert message.read_text() == told


def test_a_refusal_is_told_as_an_error(
    root: Path, message: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(root, "a/b/c", "x", "y")
    capsys.readouterr()
    assert prepare(root, "a/b/d", "x", "y") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == message.read_text()
    first, second = err.splitlines()
    assert first.startswith("/srv/x belongs to job x of stack a/b/c: ")
    assert second.startswith("/srv/y belongs to job y of stack a/b/c: ")


def test_of_many_refusals_as_many_as_there_is_room_for_reach_the_message(
    root: Path, message: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directories = [f"job-{number:03}" for number in range(100)]
    prepare(root, "a/b/c", *directories)
    capsys.readouterr()
    assert prepare(root, "a/b/d", *directories) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 100
    text = message.read_text()
    assert len(text.encode()) < 4096
    *told, last = text.splitlines()
    assert told == lines[: len(told)]
    assert last == f"and {100 - len(told)} more"


def test_an_error_of_the_system_is_one_line(
    root: Path, message: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "own",
                f"--root={root}/absent",
                "--path=/srv",
                "--where=the node",
                "--owner=o/p/s",
                "--user=1",
                "--group=1",
            ]
        )
        == 1
    )
    assert message.read_text() == f"{root}/absent: No such file or directory\n"
    assert capsys.readouterr().err == message.read_text()
