"""What is missing or damaged, as a preview and `up` see it."""

from __future__ import annotations

import ast
import errno
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provider import place
from provider.dataset import Dataset
from provider.kinds import Call, Change, ProviderError
from workloads.datasets.mnist_directory import (
    IDX_FILES,
    SAMPLE,
    SAMPLE_SUM,
    DatasetError,
    missing,
)
from workloads.datasets.mnist_sample import fill

ROOT = Path(__file__).resolve().parents[3]
INPUTS = {"name": "mnist", "source": "sample", "storage": "data", "stateDirectory": "state"}
DRIFTED = ("directory",)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: to make the sample takes a second."""
    made = tmp_path_factory.mktemp("filled")
    fill(made)
    return made


@pytest.fixture
def directory(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A filled dataset directory of a project of the test's own."""
    monkeypatch.setattr(place, "PROJECT", tmp_path)
    made = tmp_path / "data" / "datasets" / "mnist"
    shutil.copytree(filled, made)
    return made


def compared(**changed: Any) -> Change:
    return Dataset().compare(Call(inputs=INPUTS | changed, old_inputs=INPUTS))


def test_what_is_whole_does_not_differ(directory: Path) -> None:
    assert missing(directory) == ()
    assert not compared()


def test_a_leftover_beside_it_changes_nothing(directory: Path) -> None:
    (directory / f".{SAMPLE}.77.tmp").write_bytes(b"half")
    assert not compared()


@pytest.mark.parametrize(
    ("removed", "lacking"),
    [
        ((SAMPLE,), (SAMPLE, SAMPLE_SUM)),
        ((SAMPLE_SUM,), (SAMPLE_SUM,)),
        ((SAMPLE, SAMPLE_SUM), (SAMPLE, SAMPLE_SUM)),
    ],
)
def test_what_is_missing_is_seen_and_made_again(
    directory: Path, removed: tuple[str, ...], lacking: tuple[str, ...]
) -> None:
    for name in removed:
        (directory / name).unlink()
    (directory / f".{SAMPLE}.77.tmp").write_bytes(b"half")
    assert missing(directory) == lacking
    note = f"{lacking[0]} is missing: it is made again"
    assert compared() == Change(drift=DRIFTED, notes=(note,))
    Dataset().update(Call(inputs=INPUTS))
    assert missing(directory) == ()


def test_a_directory_that_was_moved_away_is_filled_anew(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))
    assert compared().drift == DRIFTED
    assert Dataset().create(Call(inputs=INPUTS)) == {"directory": "data/datasets/mnist"}
    assert missing(directory) == ()


@pytest.mark.parametrize(
    "damage",
    [
        lambda directory: (directory / SAMPLE).write_bytes(b"half"),
        lambda directory: (directory / SAMPLE_SUM).write_bytes(b""),
        lambda directory: (directory / SAMPLE_SUM).write_bytes(b"\xff\xfe"),
    ],
)
def test_damage_is_told_by_a_preview_and_refused_by_up(
    directory: Path, damage: Callable[[Path], object]
) -> None:
    damage(directory)
    sentence = (
        f"{directory / SAMPLE} is damaged: its SHA-256 is not the one in {SAMPLE_SUM}; "
        "remove it and it is made again"
    )
    assert compared() == Change(drift=DRIFTED, notes=(sentence,))
    with pytest.raises(ProviderError) as refused:
        Dataset().update(Call(inputs=INPUTS))
    assert str(refused.value) == sentence
    (directory / SAMPLE).unlink()
    Dataset().update(Call(inputs=INPUTS))
    assert not compared()


@pytest.mark.parametrize("name", IDX_FILES)
def test_files_of_the_users_own_are_enough(directory: Path, name: str) -> None:
    for made in (SAMPLE, SAMPLE_SUM):
        (directory / made).unlink()
    (directory / name).write_bytes(b"the user's")
    assert not compared()
    Dataset().update(Call(inputs=INPUTS))
    assert [file.name for file in directory.iterdir()] == [name]


def test_what_cannot_be_read_is_one_sentence(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Faked: the superuser, who may run these tests, may enter every directory.
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "lstat", refuse)
    sentence = f"{directory / IDX_FILES[0]} cannot be read: Permission denied"
    assert compared() == Change(drift=DRIFTED, notes=(sentence,))
    with pytest.raises(ProviderError, match="cannot be read: Permission denied"):
        Dataset().create(Call(inputs=INPUTS))


def test_a_directory_in_place_of_the_sample_is_one_sentence(directory: Path) -> None:
    (directory / SAMPLE).unlink()
    (directory / SAMPLE).mkdir()
    with pytest.raises(DatasetError, match=f"{directory / SAMPLE} cannot be read: Is a directory"):
        missing(directory)


def test_a_link_that_leads_nowhere_is_not_replaced(directory: Path) -> None:
    (directory / SAMPLE).unlink()
    (directory / SAMPLE).symlink_to(directory / "gone")
    with pytest.raises(DatasetError, match="cannot be read: No such file"):
        fill(directory)
    assert (directory / SAMPLE).is_symlink()


def test_a_preview_loads_no_numpy(directory: Path) -> None:
    program = (
        "import sys; from provider.dataset import Dataset; from provider.kinds import Call\n"
        f"inputs = {INPUTS!r}\n"
        "Dataset().compare(Call(inputs=inputs, old_inputs=inputs))\n"
        "print('numpy' in sys.modules)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert finished.stdout == "False\n"


def test_programs_look_for_the_same_files() -> None:
    """They run inside a replica and cannot import ours, so the names stand in both."""
    source = (ROOT / "training/programs/mnist_files.py").read_text(encoding="utf-8")
    named = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("IDX_FILES", "SAMPLE_FILE")
    }
    assert [name for pair in named["IDX_FILES"].values() for name in pair] == list(IDX_FILES)
    assert named["SAMPLE_FILE"] == SAMPLE
