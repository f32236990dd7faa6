"""Machines that TensorFlow has no package for are told so before anything else happens."""

import platform

import pytest

from toolchain import __main__ as toolchain
from toolchain import platforms
from toolchain.versions import read_versions


@pytest.mark.parametrize(
    ("system", "machine", "release", "reason"),
    [
        ("Linux", "x86_64", "glibc 2.27", ""),
        ("Linux", "aarch64", "glibc 2.36", ""),
        ("Darwin", "arm64", "12.0", ""),
        ("Darwin", "arm64", "26.1", ""),
        ("Darwin", "x86_64", "14.5", "macOS on x86_64 (on Apple silicon: for a Python built"),
        ("Darwin", "arm64", "11.7", "macOS 11.7"),
        ("Linux", "x86_64", "glibc 2.17", "glibc 2.17"),
        ("Linux", "x86_64", "", "a Linux without glibc"),
        ("Linux", "riscv64", "glibc 2.41", "Linux on riscv64"),
        ("FreeBSD", "amd64", "", "FreeBSD on amd64"),
    ],
)
def test_unfit(system: str, machine: str, release: str, reason: str) -> None:
    assert platforms.unfit(system, machine, release).startswith(reason)
    assert bool(platforms.unfit(system, machine, release)) is bool(reason)


def test_this_machine_is_fit() -> None:
    platforms.ensure_platform()


@pytest.mark.parametrize("command", ["setup", "setup-dev", "up", "preview", "destroy"])
def test_an_intel_mac_is_refused_before_anything_is_fetched(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("14.5", ("", "", ""), "x86_64"))
    monkeypatch.setattr(toolchain, "ensure_engine", lambda: pytest.fail("got pulumi"))
    assert toolchain.main([command]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ack-training: there is no TensorFlow 2.21.0 for macOS on x86_64")
    assert line.endswith(platforms.WORKING)


def test_what_was_looked_up_is_of_the_version_in_use() -> None:
    cpu = read_versions().python["cpu"]
    versions = {cpu[name].partition(";")[0] for name in ("tensorflow", "tensorflow-cpu")}
    assert versions == {platforms.TENSORFLOW}
