"""Programs built from pinned Go modules, with a `go` that only says it built."""

from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import go_build
from toolchain.report import Stop
from toolchain.versions import read_versions

Program = Callable[[str, str], Path]

# `go build -ldflags FLAGS -o OUT PACKAGE`
_GO = """
case $1 in
env) echo go{version} ;;
build)
    case $6 in *broken) echo "no such package" >&2; exit 1 ;; esac
    echo "$6 $3" >>"{log}"
    echo "$6" >"$5" ;;
esac
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    folder = tmp_path / "module"
    folder.mkdir()
    (folder / "go.mod").write_text("module x\n")
    (folder / "main.go").write_text("package main\n")
    return folder


@pytest.fixture
def built(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that has a line for each build."""
    log = tmp_path / "built"
    log.touch()
    version = read_versions().programs["go-minimum"]
    go = program("go", _GO.format(version=version, log=log))
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return log


def test_each_program_is_built_once_and_told(
    module: Path, built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = {"one": "example/cmd/one", "two": "example/cmd/two"}
    folder = go_build.built_programs(module, programs, usually="a minute")
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "one": "example/cmd/one\n",
        "two": "example/cmd/two\n",
    }
    told = capsys.readouterr().out
    assert "Building one from source (usually a minute, once)" in told
    assert "  built one in " in told
    assert go_build.built_programs(module, programs, usually="a minute") == folder
    assert built.read_text() == "example/cmd/one -s -w\nexample/cmd/two -s -w\n"
    assert capsys.readouterr().out == ""


def test_what_was_built_before_a_failure_is_kept(module: Path, built: Path, tmp_path: Path) -> None:
    programs = {"one": "example/one", "two": "example/broken"}
    with pytest.raises(Stop, match=r"(?s)`go build -ldflags` failed in .*no such package"):
        go_build.built_programs(module, programs, usually="a minute")
    programs["two"] = "example/two"
    go_build.built_programs(module, programs, usually="a minute")
    assert built.read_text() == "example/one -s -w\nexample/two -s -w\n"
    assert list((tmp_path / "cache" / "ack-training").glob("building-*")) == []


def test_what_a_killed_build_left_is_removed(module: Path, built: Path, tmp_path: Path) -> None:
    leftover = tmp_path / "cache" / "ack-training" / "building-killed"
    leftover.mkdir(parents=True)
    go_build.built_programs(module, {"one": "example/one"}, usually="a minute")
    assert not leftover.exists()


def test_a_program_with_another_stamp_is_another_program(module: Path, built: Path) -> None:
    programs = {"one": "example/one"}
    plain = go_build.built_programs(module, programs, usually="a minute")
    stamped = go_build.built_programs(module, programs, usually="a minute", ldflags="-X v=1")
    assert stamped != plain
    assert built.read_text() == "example/one -s -w\nexample/one -s -w -X v=1\n"


def test_missing_go_is_one_line_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Stop, match=r"install Go .* or Pulumi") as stop:
        go_build.find_go("pulumi", "Pulumi (address)")
    assert "\n" not in str(stop.value)


def test_old_go_is_named_with_its_version(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = program("go", "echo go1.19.8")
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    with pytest.raises(Stop, match=r"go1\.19\.8: install Go"):
        go_build.find_go("pulumi", "Pulumi (address)")


def test_go_of_the_minimum_is_used(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    go = program("go", f"echo go{read_versions().programs['go-minimum']}")
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    assert go_build.find_go("pulumi", "Pulumi (address)") == str(go)


def test_the_cache_key_follows_what_is_built(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n")
    (tmp_path / "main.go").write_text("package main\n")
    before = go_build.source_key([tmp_path])
    (tmp_path / "main_test.go").write_text("package main\n")
    (tmp_path / "notes.txt").write_text("x")
    assert go_build.source_key([tmp_path]) == before
    (tmp_path / "main.go").write_text("package main // changed\n")
    assert go_build.source_key([tmp_path]) != before


def test_go_builds_for_this_machine_from_pinned_sources() -> None:
    got = go_build.go_environment({"GOOS": "plan9", "GOFLAGS": "-mod=mod", "HOME": "/h"})
    assert "GOOS" not in got
    assert got["HOME"] == "/h"
    assert "-mod=readonly" in got["GOFLAGS"].split()
    assert got["GOTOOLCHAIN"] == "local"
