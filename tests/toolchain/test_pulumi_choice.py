"""Which pulumi a checkout uses, and what is said when it cannot be had."""

import hashlib
import io
import platform
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import build, download, engine
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


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "pulumi-v1.2.3-linux-x64.tar.gz"),
        ("Darwin", "arm64", "pulumi-v1.2.3-darwin-arm64.tar.gz"),
        ("Linux", "riscv64", None),
        ("Plan9", "x86_64", None),
    ],
)
def test_archive_name(system: str, machine: str, name: str | None) -> None:
    assert download.archive_name("1.2.3", system, machine) == name


def test_checksum_is_that_of_the_named_archive() -> None:
    good, other = "A" * 64, "b" * 64
    sums = f"{other}  pulumi-v1-linux-arm64.tar.gz\n{good}  pulumi-v1-linux-x64.tar.gz\n<html>\n"
    assert download.checksum(sums, "pulumi-v1-linux-x64.tar.gz") == good.lower()
    assert download.checksum(sums, "pulumi-v2-linux-x64.tar.gz") is None
    assert download.checksum("short  pulumi-v1-linux-x64.tar.gz", "x") is None


def test_offline_asks_nothing_of_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("ACK_TRAINING_OFFLINE", "1")
    monkeypatch.setattr(download, "_read_quickly", lambda url: pytest.fail(f"asked {url}"))
    assert download.downloaded_engine("3.274.1") is None


def release(path: Path, members: dict[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("pulumi/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_release_is_downloaded_verified_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = download.archive_name("9.9.9", "Linux", "x86_64")
    assert archive is not None
    served = tmp_path / "served" / "v9.9.9"
    served.mkdir(parents=True)
    members = {"pulumi/pulumi": b"#!/bin/sh\n", "pulumi/../../evil": b"x", "evil": b"x"}
    digest = release(served / archive, members)
    (served / "pulumi-9.9.9-checksums.txt").write_text(f"{digest}  {archive}\n")
    monkeypatch.setattr(download, "_RELEASES", (tmp_path / "served").as_uri())
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ACK_TRAINING_OFFLINE", raising=False)

    folder = download.downloaded_engine("9.9.9")
    assert folder is not None
    assert [file.name for file in folder.iterdir()] == ["pulumi"]
    assert (folder / "pulumi").stat().st_mode & 0o111
    assert not list(tmp_path.rglob("evil"))
    # Kept: found again without the network.
    monkeypatch.setenv("ACK_TRAINING_OFFLINE", "1")
    assert download.downloaded_engine("9.9.9") == folder


def test_a_damaged_release_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = download.archive_name("9.9.9", "Linux", "x86_64")
    assert archive is not None
    served = tmp_path / "v9.9.9"
    served.mkdir()
    release(served / archive, {"pulumi/pulumi": b"x"})
    (served / "pulumi-9.9.9-checksums.txt").write_text(f"{'0' * 64}  {archive}\n")
    monkeypatch.setattr(download, "_RELEASES", tmp_path.as_uri())
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ACK_TRAINING_OFFLINE", raising=False)
    with pytest.raises(Stop, match="damaged"):
        download.downloaded_engine("9.9.9")
    assert list((tmp_path / "cache" / "ack-training").iterdir()) == []
