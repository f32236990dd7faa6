"""Numbers of exports: never half-written, never twice, nothing of the user's removed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from runtime.versions import Origin, exported_version, publish

ORIGIN = Origin(job="digits", run=1, step=100, checkpoint="ab12", program="p1")


def write_model(directory: Path) -> None:
    (directory / "variables").mkdir(parents=True)
    (directory / "saved_model.pb").write_bytes(b"model")


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def test_first_version_is_1_and_whole(tmp_path: Path) -> None:
    export = tmp_path / "export"
    assert publish(export, ORIGIN, write_model) == 1
    assert names(export) == ["1"]
    assert names(export / "1") == ["assets.extra", "saved_model.pb", "variables"]


def test_next_version_follows_the_highest_integer(tmp_path: Path) -> None:
    for name in ("2", "10", "v1", "0.1", ".tmp-99", "12x", "x12"):
        (tmp_path / name).mkdir()
    assert publish(tmp_path, ORIGIN, write_model) == 11
    assert {"2", "10", "v1", "0.1", ".tmp-99", "12x", "x12"} < set(names(tmp_path))


def test_a_file_named_by_an_integer_takes_its_number(tmp_path: Path) -> None:
    (tmp_path / "3").write_text("a user's")
    assert publish(tmp_path, ORIGIN, write_model) == 4
    assert (tmp_path / "3").read_text() == "a user's"


def test_what_was_exported_is_found_by_its_origin(tmp_path: Path) -> None:
    version = publish(tmp_path, ORIGIN, write_model)
    assert exported_version(tmp_path, ORIGIN) == version
    for other in (
        Origin("digits", 1, 200, "ab12", "p1"),
        Origin("digits", 2, 100, "ab12", "p1"),
        Origin("letters", 1, 100, "ab12", "p1"),
        Origin("digits", 1, 100, "cd34", "p1"),
        Origin("digits", 1, 100, "ab12", "p2"),
    ):
        assert exported_version(tmp_path, other) is None


def test_nothing_is_exported_where_there_is_no_directory(tmp_path: Path) -> None:
    assert exported_version(tmp_path / "export", ORIGIN) is None


def test_a_number_taken_meanwhile_is_passed_over(tmp_path: Path) -> None:
    def write_while_another_finishes(directory: Path) -> None:
        write_model(directory)
        write_model(tmp_path / "1")

    assert publish(tmp_path, ORIGIN, write_while_another_finishes) == 2
    assert names(tmp_path) == ["1", "2"]


def test_exports_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    together = threading.Barrier(8)
    versions: list[int] = []

    def write_together(directory: Path) -> None:
        write_model(directory)
        together.wait()

    def export(job: str) -> None:
        versions.append(publish(tmp_path, Origin(job, 1, 100, "ab12", "p1"), write_together))

    threads = [threading.Thread(target=export, args=(f"job-{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions) == list(range(1, 9))
    assert names(tmp_path) == sorted(map(str, versions))


def test_a_failed_write_leaves_no_version(tmp_path: Path) -> None:
    def fail(directory: Path) -> None:
        write_model(directory)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        publish(tmp_path, ORIGIN, fail)
    assert [name for name in names(tmp_path) if not name.startswith(".")] == []
    assert publish(tmp_path, ORIGIN, write_model) == 1
    assert names(tmp_path) == ["1"]


def test_a_rename_that_nfs_did_and_then_calls_missing_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def rename_twice(source: Path, target: Path) -> None:
        rename(source, target)
        rename(source, target)

    monkeypatch.setattr(os, "rename", rename_twice)
    assert publish(tmp_path, ORIGIN, write_model) == 1
    assert names(tmp_path) == ["1"]
    assert exported_version(tmp_path, ORIGIN) == 1


def test_a_rename_of_what_is_missing_is_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(source: Path, target: Path) -> None:
        shutil.rmtree(source)
        raise FileNotFoundError(errno.ENOENT, "gone", str(source))

    monkeypatch.setattr(os, "rename", lose)
    with pytest.raises(FileNotFoundError):
        publish(tmp_path, ORIGIN, write_model)
    assert [name for name in names(tmp_path) if not name.startswith(".")] == []


def leftover(directory: Path, name: str, owner: dict[str, object]) -> Path:
    aside = directory / name
    aside.mkdir()
    (aside / "owner.json").write_text(json.dumps(owner))
    return aside


def test_only_leftovers_of_a_dead_export_of_this_run_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host, token = socket.gethostname(), "0" * 32
    dead = {"host": host, "pid": ended.pid}
    mine = leftover(tmp_path, f".exporting-digits-run-1-{token}", dead)
    kept = [
        leftover(tmp_path, f".exporting-digits-run-2-{token}", dead),
        leftover(tmp_path, f".exporting-letters-run-1-{token}", dead),
        leftover(tmp_path, ".exporting-digits-run-1-mine", dead),
        leftover(tmp_path, f".exporting-digits-run-1-{'1' * 32}", {"host": "h", "pid": 1}),
        leftover(
            tmp_path, f".exporting-digits-run-1-{'2' * 32}", {"host": host, "pid": os.getppid()}
        ),
    ]
    publish(tmp_path, ORIGIN, write_model)
    assert not mine.exists()
    assert all(directory.exists() for directory in kept)
