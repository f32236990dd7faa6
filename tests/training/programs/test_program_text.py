"""Which files a program consists of, told from its text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from runtime.program_text import read_program

from tests.training.programs.replica_processes import PROGRAMS


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes the files given, the program first."""

    def files(**texts: str) -> Path:
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path / f"{next(iter(texts))}.py"

    return files


def test_modules_of_its_folder_belong_to_it_wherever_they_are_imported(
    write: Callable[..., Path],
) -> None:
    program = write(
        main="import os\ndef serve():\n    from parts.words import say\n",
        parts__words="from . import letters\nfrom ...nowhere import nothing\n",
        parts__letters="import numpy\n",
        unused="",
    )
    text = read_program(program)
    assert list(text.digests) == ["main.py", "parts/letters.py", "parts/words.py"]
    assert not text.uses_runtime


def test_an_edit_shows(write: Callable[..., Path]) -> None:
    program = write(main="import helper\n", helper="x = 1\n")
    before = read_program(program)
    assert read_program(program) == before
    write(main="import helper\n", helper="x = 2\n")
    assert read_program(program) != before


def test_the_runtime_is_no_part_of_a_program_that_uses_it() -> None:
    text = read_program(PROGRAMS / "mnist.py")
    assert text.uses_runtime
    assert list(text.digests) == ["mnist.py", "mnist_files.py"]


def test_a_program_below_the_prefix_of_python_is_read(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert list(read_program(write(main="import runtime\n")).digests) == ["main.py"]


def test_what_python_cannot_read_is_left_to_python(write: Callable[..., Path]) -> None:
    text = read_program(write(main="import helper\n", helper="def\n"))
    assert list(text.digests) == ["helper.py", "main.py"]
