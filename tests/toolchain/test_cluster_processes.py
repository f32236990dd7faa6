"""How the processes of a test cluster are found, and what is said of one that fails."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import must_run
from toolchain.cluster import processes
from toolchain.cluster.lifecycle import log_end
from toolchain.cluster.place import Place
from toolchain.places import ROOT
from toolchain.report import Stop

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = Place(199)
    place.state.mkdir(parents=True)
    return place


@pytest.fixture
def node(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is started as a node's first one is, and does nothing."""
    # What stands after a program given by -c is for it to read.
    idle = [sys.executable, "-c", "print(flush=True); input()"]
    arguments = processes.node_command("", place)[1:]
    with subprocess.Popen(
        [*idle, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


@linux
def test_a_node_is_found_and_ended(place: Place, node: subprocess.Popen[bytes]) -> None:
    assert processes.first_processes(place) == [node.pid]
    assert processes.end_node(place)
    assert node.wait() == -9
    assert processes.first_processes(place) == []
    assert not processes.end_node(place)


@linux
def test_a_node_of_another_number_or_folder_is_not_ours(
    place: Place, node: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not processes.end_node(Place(198))
    processes.ensure_own_instance(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of another user"))
    elsewhere = Place(199)
    assert not processes.end_node(elsewhere)
    with pytest.raises(Stop, match="has test cluster 199: choose another --instance"):
        processes.ensure_own_instance(elsewhere)
    assert node.poll() is None


@linux
def test_the_node_is_the_one_that_said_so(place: Place, node: subprocess.Popen[bytes]) -> None:
    with pytest.raises(Stop, match="test cluster 199 is not up"):
        processes.node_process(place)
    # The id has gone to another program since.
    (place.state / "pid").write_text(str(os.getpid()))
    with pytest.raises(Stop, match="test cluster 199 is not up"):
        processes.node_process(place)
    (place.state / "pid").write_text(str(node.pid))
    assert processes.node_process(place) == node.pid


def test_the_end_of_a_log_is_shown(tmp_path: Path) -> None:
    log = tmp_path / "etcd.log"
    assert log_end(log) == "  etcd.log is empty"
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    assert log_end(log).splitlines()[0] == "  line 85"
    assert log_end(log).splitlines()[-1] == "  line 99"


def test_only_ci_as_root_on_linux_without_a_given_cluster_must_run() -> None:
    assert must_run({"CI": "true"}, "Linux", 0)
    assert not must_run({}, "Linux", 0)
    assert not must_run({"CI": "true"}, "Darwin", 0)
    assert not must_run({"CI": "true"}, "Linux", 1000)
    assert not must_run({"CI": "true", "KUBECONFIG": "/some/file"}, "Linux", 0)


@pytest.mark.skipif(
    platform.system() != "Linux" or os.geteuid() != 0, reason="no machine that must run them"
)
@pytest.mark.parametrize("ci", ["true", ""])
def test_a_skipped_test_of_a_cluster_fails_in_ci_alone(ci: str, tmp_path: Path) -> None:
    """Skipped because programs are missing, which are on no PATH here."""
    name = "tests/cluster/test_test_cluster.py::test_a_pod_runs_and_its_log_can_be_read"
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", name],
        cwd=ROOT,
        env=environment | {"CI": ci, "PATH": str(tmp_path), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "apt-get install" in ran.stdout
    assert "containerd" in ran.stdout
    if ci:
        assert ran.returncode == 1
        assert "no test may be skipped" in ran.stdout
    else:
        assert ran.returncode == 0
        assert "1 skipped" in ran.stdout
