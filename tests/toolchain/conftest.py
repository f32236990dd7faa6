"""Fake programs on a PATH of the test's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toolchain.builder_programs import BuilderPrograms

Program = Callable[[str, str], Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Writes an executable sh script into `tmp_path/bin`."""

    def write(name: str, script: str) -> Path:
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file

    return write


@pytest.fixture
def builders(tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> BuilderPrograms:
    """The only programs on PATH besides the shell's own, none at first."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("BUILDER", raising=False)
    return BuilderPrograms(tmp_path, program)
