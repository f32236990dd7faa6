"""A test cluster leaves nothing behind, whatever of it was killed before."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import ensure_own_cluster_can_run
from tests.cluster.handle import Cluster
from tests.cluster.pods import pod
from tests.cluster.reservation import reserved_place
from tests.cluster.waiting import until
from toolchain.cluster.lifecycle import down, up, what_lacks
from toolchain.cluster.place import Place
from toolchain.cluster.processes import first_processes, is_running, node_process
from toolchain.cluster.programs import cluster_programs, environment, program
from toolchain.cluster.stock_images import BUSYBOX
from toolchain.places import ROOT
from toolchain.report import Stop


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    if os.environ.get("KUBECONFIG"):
        pytest.skip("not in a given cluster: it is not ours to end")
    ensure_own_cluster_can_run()
    with reserved_place() as reserved:
        down(reserved)
        yield reserved
        down(reserved)


def output(name: str, *arguments: str) -> list[str]:
    ran = subprocess.run(
        [program(name), *arguments], env=environment(), capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


def rules() -> list[str]:
    """This machine's firewall rules and chains, of both kinds that Linux has."""
    return [
        f"{kind} {table} {line}"
        for kind in ("iptables-nft", "iptables-legacy")
        for table in ("filter", "nat", "mangle")
        for line in output(kind, "-t", table, "-S")
    ]


def traces(place: Place) -> list[str]:
    """What of a cluster can be seen on this machine, but for its processes."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    words = (str(place.folder), "/netns/", "kubelet", "containerd", "/cni")
    groups = Path("/sys/fs/cgroup").glob(f"**/{place.control_group}")
    return [
        *(line for line in mounts if any(word in line for word in words)),
        *(line for line in output("ip", "-o", "link") if place.link in line),
        *(line for line in output("ip", "route") if place.link in line),
        *(str(group) for group in groups),
        *(str(file) for file in place.folder.iterdir()),
    ]


def processes_of(place: Place) -> dict[int, str]:
    """The node's first process and all that descend from it, with the names of their programs:
    what loses its parent there falls to the first one."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            names[int(folder.name)] = Path(os.readlink(folder / "exe")).name
        except OSError:
            continue  # it has ended, or is a zombie
        # `pid (name) state parent …`
        parents[int(folder.name)] = int(stat.rpartition(") ")[2].split()[1])
    own = {node_process(place)}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return {pid: names[pid] for pid in own}


def run_a_pod(place: Place) -> None:
    cluster = Cluster(place.kubeconfig, cluster_programs()["kubectl"], BUSYBOX, place)
    cluster.apply(pod("default", "runs", BUSYBOX, "sleep 100000"))
    cluster.kubectl("wait", "pod/runs", "--for=condition=Ready", "--timeout=60s")


def test_down_leaves_nothing_and_other_rules_as_they_were(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = f"OF-ANOTHER-{os.getpid()}"
    output("iptables", "-t", "nat", "-N", chain)
    output("iptables", "-t", "nat", "-A", chain, "-d", "10.96.0.1", "-j", "RETURN")
    try:
        before = rules()
        assert traces(place) == []
        up(place)
        run_a_pod(place)
        running = processes_of(place)
        names = set(running.values())
        assert {"etcd", "kube-apiserver", "kubelet", "kube-proxy", "coredns", "kwok"} <= names
        assert {"containerd", "containerd-shim-runc-v2", "busybox"} <= names
        assert len(traces(place)) > 5
        capsys.readouterr()
        down(place)
        assert "is down" in capsys.readouterr().out
        assert [name for pid, name in running.items() if is_running(pid)] == []
        assert traces(place) == []
        assert rules() == before
        assert any(line.endswith(f"nat -N {chain}") for line in before)
    finally:
        output("iptables", "-t", "nat", "-F", chain)
        output("iptables", "-t", "nat", "-X", chain)
    down(place)
    assert "was not up" in capsys.readouterr().out


def test_up_of_a_cluster_that_is_up_changes_nothing(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    up(place)
    before = processes_of(place)
    capsys.readouterr()
    up(place)
    assert "is up already" in capsys.readouterr().out
    assert before.items() <= processes_of(place).items()


@pytest.mark.parametrize("killed", ["etcd", "containerd", "kubelet"])
def test_a_cluster_that_lost_a_program_is_started_afresh(
    place: Place, killed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    up(place)
    run_a_pod(place)
    running = processes_of(place)
    for pid, name in running.items():
        if name == killed:
            os.kill(pid, signal.SIGKILL)
    until(lambda: what_lacks(place) == f"{killed} ended with -9")
    capsys.readouterr()
    up(place)
    assert f"not whole ({killed} ended with -9): starting afresh" in capsys.readouterr().out
    assert [name for pid, name in running.items() if is_running(pid)] == []
    assert what_lacks(place) == ""


def test_all_end_with_the_first_process(place: Place) -> None:
    up(place)
    run_a_pod(place)
    running = processes_of(place)
    os.kill(node_process(place), signal.SIGKILL)
    until(lambda: not any(is_running(pid) for pid in running))
    assert what_lacks(place) == "it does not run"
    down(place)
    assert traces(place) == []


@pytest.mark.parametrize("moment", ["certificates", "pid", "log/kube-apiserver.log", "ready"])
def test_what_a_killed_start_left_is_no_obstacle(place: Place, moment: str) -> None:
    down(place)
    kill_start(place, moment)
    up(place)
    assert what_lacks(place) == ""


def test_what_a_killed_start_left_is_taken_down(place: Place) -> None:
    down(place)
    kill_start(place, "log/kubelet.log")
    down(place)
    assert first_processes(place) == []
    assert traces(place) == []


def kill_start(place: Place, moment: str) -> None:
    """Starts the cluster in a process of its own and kills that one as soon as there is the file
    `moment`. What it had started goes on."""
    command = [sys.executable, "-m", "toolchain.cluster", "--instance", str(place.instance), "up"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as starting:
        until(lambda: (place.state / moment).exists())
        starting.kill()


def test_a_start_that_fails_names_the_program_and_shows_its_log(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    down(place)
    broken = tmp_path / "containerd"
    broken.write_text("#!/bin/sh\necho broken on purpose\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Stop) as stop:
        up(place)
    assert str(stop.value) == "containerd ended with 7\n  broken on purpose"
    assert traces(place) == []
