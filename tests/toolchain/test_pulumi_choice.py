"""Which pulumi a checkout uses, and what is said when it cannot be had."""

from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import build, engine
from toolchain.report import Stop
from toolchain.versions import read_versions

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


def test_missing_go_is_one_line_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Stop, match=r"install Go .* or Pulumi") as stop:
        build.find_go()
    assert "\n" not in str(stop.value)


def test_old_go_is_named_with_its_version(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = program("go", "echo go1.19.8")
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    with pytest.raises(Stop, match=r"go1\.19\.8: install Go"):
        build.find_go()


def test_go_of_the_minimum_is_used(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    go = program("go", f"echo go{read_versions().programs['go-minimum']}")
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    assert build.find_go() == str(go)


def test_the_cache_key_follows_what_is_built(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n")
    (tmp_path / "main.go").write_text("package main\n")
    before = build.source_key([tmp_path])
    (tmp_path / "main_test.go").write_text("package main\n")
    (tmp_path / "notes.txt").write_text("x")
    assert build.source_key([tmp_path]) == before
    (tmp_path / "main.go").write_text("package main // changed\n")
    assert build.source_key([tmp_path]) != before


def test_go_builds_for_this_machine_from_pinned_sources() -> None:
    got = build.go_environment({"GOOS": "plan9", "GOFLAGS": "-mod=mod", "HOME": "/h"})
    assert "GOOS" not in got
    assert got["HOME"] == "/h"
    assert "-mod=readonly" in got["GOFLAGS"].split()
    assert got["GOTOOLCHAIN"] == "local"
