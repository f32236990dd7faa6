"""Pulumi's plugin for Kubernetes: what is there is kept, else it is fetched, else built."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import kubernetes_plugin, ready
from toolchain.engine import Engine
from toolchain.ready import plugin_folder
from toolchain.report import Stop
from toolchain.versions import read_versions

Program = Callable[[str, str], Path]
VERSION = read_versions().python["kubernetes"]["pulumi-kubernetes"]

# `pulumi plugin install resource kubernetes VERSION [--reinstall --file FOLDER]`
PULUMI = """
echo "$*" >>"{log}"
if [ "$7" = --file ]; then
    rm -rf "{plugin}" && cp -r "$8" "{plugin}"
elif [ -e "{reachable}" ]; then
    mkdir -p "{plugin}" && echo fetched >"{plugin}/pulumi-resource-kubernetes"
else
    echo "error: failed to download" >&2; exit 1
fi
"""
# `go build -ldflags FLAGS -o OUT PACKAGE`; `go list` tells where a module's sources are.
GO = """
case $1 in
env) echo go{version} ;;
build) echo "go build $6 $3" >>"{log}"; echo built >"$5" ;;
list) echo "{upstream}" ;;
esac
"""


class Machine:
    def __init__(self, folder: Path, program: Program) -> None:
        self.log = folder / "log"
        self.log.touch()
        self.reachable = folder / "reachable"
        upstream = folder / "upstream"
        sources = upstream / "cmd" / "pulumi-resource-kubernetes"
        sources.mkdir(parents=True)
        for name in ("schema.json", "terraform-mapping.json"):
            (sources / name).write_text(name)
        plugins = folder / "pulumi" / "plugins"
        plugins.mkdir(parents=True)
        self.plugin = plugins / f"resource-kubernetes-v{VERSION}"
        pulumi = PULUMI.format(log=self.log, plugin=self.plugin, reachable=self.reachable)
        self.bin = program("pulumi", pulumi).parent
        version = read_versions().programs["go-minimum"]
        program("go", GO.format(version=version, log=self.log, upstream=upstream))

    def set_up(self, *, built: bool) -> list[str]:
        """What was run for it."""
        before = len(self.log.read_text().splitlines())
        kubernetes_plugin.ensure_kubernetes_plugin(Engine(self.bin, built))
        return self.log.read_text().splitlines()[before:]

    def has(self) -> dict[str, str]:
        return {file.name: file.read_text().strip() for file in self.plugin.iterdir()}


@pytest.fixture
def machine(tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path, program)
    monkeypatch.setenv("PATH", f"{made.bin}:/usr/bin:/bin")
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ACK_TRAINING_OFFLINE", raising=False)
    return made


FETCH = f"plugin install resource kubernetes {VERSION}"
BUILD = f"go build . -s -w -X main.version={VERSION}"


def test_pulumi_fetches_it_and_nothing_is_built(machine: Machine) -> None:
    machine.reachable.touch()
    assert machine.set_up(built=False) == [FETCH]
    assert machine.has() == {"pulumi-resource-kubernetes": "fetched"}
    assert machine.set_up(built=False) == []


def test_a_fetched_one_serves_a_built_pulumi_too(machine: Machine) -> None:
    machine.reachable.touch()
    machine.set_up(built=False)
    assert machine.set_up(built=True) == []


def test_it_is_built_where_it_cannot_be_fetched(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch, build, install = machine.set_up(built=False)
    assert (fetch, build) == (FETCH, BUILD)
    assert install.startswith(f"{FETCH} --reinstall --file ")
    assert "building it instead" in capsys.readouterr().out
    assert machine.has() == {
        "pulumi-resource-kubernetes": "built",
        "schema.json": "schema.json",
        "terraform-mapping.json": "terraform-mapping.json",
        "built-from": kubernetes_plugin._key(),
    }
    assert machine.set_up(built=False) == []


@pytest.mark.parametrize("offline", [False, True])
def test_nothing_is_asked_of_the_network_for_a_built_pulumi_or_offline(
    machine: Machine, offline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if offline:
        monkeypatch.setenv("ACK_TRAINING_OFFLINE", "1")
    build, install = machine.set_up(built=not offline)
    assert build == BUILD
    assert "--file" in install


def test_one_that_was_removed_is_installed_again_without_a_build(machine: Machine) -> None:
    machine.set_up(built=True)
    for file in machine.plugin.iterdir():
        file.unlink()
    (install,) = machine.set_up(built=True)
    assert "--file" in install


def test_one_that_was_built_from_other_sources_is_replaced(machine: Machine) -> None:
    machine.set_up(built=True)
    (machine.plugin / "built-from").write_text("another key")
    (install,) = machine.set_up(built=True)
    assert "--reinstall" in install
    assert machine.has()["built-from"] == kubernetes_plugin._key()


def test_one_that_pulumi_did_not_finish_does_not_count(machine: Machine) -> None:
    machine.reachable.touch()
    machine.set_up(built=False)
    Path(f"{machine.plugin}.partial").touch()
    assert machine.set_up(built=False) == [FETCH]


def test_what_an_interrupted_set_up_left_out_is_laid_again(
    machine: Machine, tmp_path: Path
) -> None:
    machine.set_up(built=True)
    (built,) = (tmp_path / "cache" / "ack-training").glob("*/bin")
    (built / "built-from").unlink()
    (built / "schema.json").write_text("ha")
    machine.plugin.rename(tmp_path / "gone")
    machine.set_up(built=True)
    assert machine.has()["schema.json"] == "schema.json"


def test_a_pulumi_that_fails_is_a_stop_with_its_reason(machine: Machine, program: Program) -> None:
    program("pulumi", "echo 'error: disk is full' >&2; exit 1")
    with pytest.raises(Stop, match=r"could not install its plugin for Kubernetes:\n.*disk is full"):
        machine.set_up(built=True)


def test_without_go_it_is_one_line_with_the_remedy(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (machine.bin / "go").unlink()
    with pytest.raises(Stop, match=r"pulumi-resource-kubernetes .* install Go") as stop:
        machine.set_up(built=True)
    assert "\n" not in str(stop.value)


def test_a_program_is_told_to_set_up_where_the_plugin_is_missing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true")
    with pytest.raises(Stop, match=r"run `make setup STACK=dev`$"):
        ready.require_cluster_set_up("dev")
    machine.set_up(built=True)
    ready.require_cluster_set_up("dev")


def test_a_program_leaves_the_plugin_to_a_pulumi_that_fetches_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", raising=False)
    ready.require_cluster_set_up("dev")


@pytest.mark.parametrize("package", ["pulumi_kubernetes", "kubernetes"])
def test_a_program_is_told_to_set_up_where_a_package_is_missing(
    machine: Machine, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(Stop, match=r"not set up for .*: run `make setup STACK=dev`$") as stop:
        ready.require_cluster_set_up("dev")
    assert "\n" not in str(stop.value)


def test_plugins_are_looked_for_where_pulumi_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the user's home as the system has it: a runner of CI may set another HOME."""
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert plugin_folder().parent == home / ".pulumi" / "plugins"
