"""Which directories count as versions, and which one is loaded next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from workloads.model_server.versions import (
    fingerprint,
    next_to_load,
    none_left,
    scan,
    version_number,
)


def write(base: Path, *names: str) -> None:
    for name in names:
        (base / name).mkdir(parents=True)
        (base / name / "saved_model.pb").write_bytes(b"model")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("1", 1),
        ("0", 0),
        ("00000123", 123),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), None),
        ("9" * 5000, None),
        ("v1", None),
        ("1.0", None),
        ("-1", None),
        ("+1", None),
        (" 1", None),
        ("1_0", None),
        ("\u0661", None),
        (".tmp-1", None),
        ("", None),
    ],
)
def test_version_number(name: str, number: int | None) -> None:
    assert version_number(name) == number


def test_scan_lists_complete_versions_newest_first(tmp_path: Path) -> None:
    write(tmp_path, "2", "10", "1", ".tmp-11", "v12", "13.tmp")
    (tmp_path / "14").mkdir()
    (tmp_path / "15").write_text("a file")
    assert [version.number for version in scan(tmp_path)] == [10, 2, 1]


def test_a_model_as_text_is_a_version(tmp_path: Path) -> None:
    write(tmp_path, "1", "2")
    (tmp_path / "2" / "saved_model.pb").rename(tmp_path / "2" / "saved_model.pbtxt")
    assert [version.number for version in scan(tmp_path)] == [2, 1]


def test_a_directory_that_cannot_be_entered_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "1", "2")
    stat = os.stat

    # Faked: the superuser, who may run these tests, may enter every directory.
    def refusing(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if str(tmp_path / "2") in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", refusing)
    # Offered, so that its load can tell what is wrong with it.
    assert [version.number for version in scan(tmp_path)] == [2, 1]


def test_none_is_left_only_in_a_base_that_is_there(tmp_path: Path) -> None:
    assert not none_left(tmp_path / "absent")
    (tmp_path / ".tmp-1").mkdir()
    assert none_left(tmp_path)
    # Being written or being removed: the version served meanwhile stays.
    (tmp_path / "1").mkdir()
    assert not none_left(tmp_path)


def test_scan_of_one_number_under_two_names(tmp_path: Path) -> None:
    write(tmp_path, "1", "01")
    assert [version.path.name for version in scan(tmp_path)] == ["01"]


def test_scan_of_no_directory(tmp_path: Path) -> None:
    assert scan(tmp_path / "absent") == []
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        scan(tmp_path / "file")


def test_the_newest_is_loaded_once(tmp_path: Path) -> None:
    write(tmp_path, "1", "2")
    offered = scan(tmp_path)
    assert next_to_load(offered, None, {}) == offered[0]
    assert next_to_load(offered, 1, {}) == offered[0]
    assert next_to_load(offered, 2, {}) is None
    assert next_to_load([], 2, {}) is None


def test_a_broken_version_waits_until_its_files_change(tmp_path: Path) -> None:
    write(tmp_path, "1", "2")
    newest, older = scan(tmp_path)
    broken = {2: fingerprint(newest.path)}
    assert next_to_load([newest, older], None, broken) == older
    assert next_to_load([newest, older], 1, broken) is None
    assert next_to_load([newest], None, broken) is None
    (newest.path / "variables").mkdir()
    (newest.path / "variables" / "variables.index").write_bytes(b"")
    assert next_to_load([newest, older], 1, broken) == newest
