"""Which pulumi a checkout uses, and what is said when it cannot be had."""

from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import engine

Program = Callable[[str, str], Path]


def test_a_new_enough_pulumi_on_path_is_used(program: Program) -> None:
    folder = program("pulumi", "echo v3.280.0").parent
    program("pulumi-language-python", "")
    assert engine.engine_on_path(str(folder), "3.272.0") == folder


@pytest.mark.parametrize(
    "script", ["echo v3.100.0", "echo v3.271.9-dev", "exit 1", "echo nonsense"]
)
def test_an_old_or_broken_pulumi_is_not_used(program: Program, script: str) -> None:
    folder = program("pulumi", script).parent
    program("pulumi-language-python", "")
    assert engine.engine_on_path(str(folder), "3.272.0") is None


def test_a_pulumi_that_cannot_run_python_is_not_used(program: Program) -> None:
    folder = program("pulumi", "echo v3.280.0").parent
    assert engine.engine_on_path(str(folder), "3.272.0") is None


def test_wrappers_and_programs_in_the_cache_are_not_the_users(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = program("pulumi", "# The pulumi of an ack-training checkout. Written by")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cached = tmp_path / "cache" / "ack-training" / "key" / "bin"
    cached.mkdir(parents=True)
    (cached / "pulumi").write_text("#!/bin/sh\n")
    (cached / "pulumi").chmod(0o755)
    assert list(engine.candidates(f"{wrapper.parent}:{cached}::{tmp_path}")) == []
