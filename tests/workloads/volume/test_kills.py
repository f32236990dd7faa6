"""A fill that is killed leaves nothing half, at whichever step, and the next run finishes."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.workloads.volume.harness import names, run_killed_at, was_killed
from workloads.volume.__main__ import main
from workloads.volume.record import RECORD


@pytest.fixture
def place(root: Path) -> list[str]:
    (root / "datasets").mkdir()
    return [f"--root={root}", "--path=/srv/training", "--where=the node", "--owner=o/p/s"]


def every_step(arguments: list[str], datasets: Path, expected: list[str], least: int) -> None:
    name = arguments[5]
    kills = 0
    while was_killed(ran := run_killed_at(kills + 1, arguments)):
        kills += 1
        if (datasets / name).exists():
            assert names(datasets / name) == expected
        assert main(arguments) == 0
        assert names(datasets) == [name]
        assert names(datasets / name) == expected
        shutil.rmtree(datasets / name)
    assert ran.returncode == 0, ran.stderr
    assert kills >= least


def test_a_copy_of_a_claim(root: Path, place: list[str], tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for path in ("a", "deep/b"):
        (tmp_path / path).write_text(path)
    arguments = ["claim", *place, "d", "old", ".", str(tmp_path)]
    every_step(arguments, root / "datasets", [RECORD, "a", "deep"], 6)


def test_an_archive(root: Path, place: list[str], tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("a"))
        tar.addfile(tarfile.TarInfo("b"))
    archive = tmp_path / "x.tar"
    archive.write_bytes(buffer.getvalue())
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    # Fetched from a file: what kills the program is no server's business.
    arguments = ["url", *place, "d", archive.as_uri(), digest]
    every_step(arguments, root / "datasets", [RECORD, "a", "b"], 8)


def test_a_fill_that_finds_what_killed_ones_left(
    root: Path, place: list[str], tmp_path: Path
) -> None:
    """Killed while it removes what an earlier killed run left, too."""
    (tmp_path / "a").write_text("a")
    arguments = ["claim", *place, "d", "old", ".", str(tmp_path)]
    for step in (4, 5, 3, 6, 2, 5):
        assert was_killed(run_killed_at(step, arguments))
    assert main(arguments) == 0
    assert names(root / "datasets") == ["d"]
