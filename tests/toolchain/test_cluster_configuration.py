"""What a test cluster is told: pure functions of its place."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from toolchain.cluster import certificates
from toolchain.cluster.components import Component, stages
from toolchain.cluster.configuration import PAUSE, configuration
from toolchain.cluster.network import overlapping
from toolchain.cluster.place import Place
from toolchain.cluster.programs import missing_packages
from toolchain.cluster.simulated_nodes import NodeShape, simulated_node
from toolchain.places import ROOT


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    return Place(3)


def components(place: Place, monkeypatch: pytest.MonkeyPatch) -> list[Component]:
    monkeypatch.setattr("toolchain.cluster.components.program", lambda name: f"/usr/bin/{name}")
    names = "etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy coredns"
    programs = {name: Path("/built") / name for name in [*names.split(), "kwok"]}
    return [component for stage in stages(place, programs) for component in stage]


def test_two_instances_share_no_name_address_or_folder() -> None:
    one, other = Place(1), Place(2)
    for attribute in ("folder", "link", "control_group"):
        assert getattr(one, attribute) != getattr(other, attribute)
    for attribute in ("cable", "pods", "services"):
        assert not getattr(one, attribute).overlaps(getattr(other, attribute))


@pytest.mark.parametrize("instance", [0, 255])
def test_the_names_of_interfaces_are_short_enough_for_linux(instance: int) -> None:
    assert len(Place(instance).link) <= 15


def test_addresses_that_the_machine_uses_are_noticed() -> None:
    place = Place(0)
    wanted = [place.cable, place.pods, place.services]
    assert overlapping(["default", "192.168.1.0/24", "172.17.0.0/16"], wanted) == ""
    assert overlapping(["default", "10.0.0.0/8"], wanted) == "10.0.0.0/8"
    assert overlapping(["10.252.0.7"], wanted) == "10.252.0.7"


def test_all_that_is_written_lies_in_the_state_folder(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for what the node has of its own, and programs."""
    texts = configuration(place, Path("/usr/lib/cni"))
    commands = [" ".join(component.command) for component in components(place, monkeypatch)]
    told = "\n".join([*texts.values(), *commands]).replace(str(place.state), "STATE")
    paths = set(re.findall(r"(?<![\w:/.])/[a-z][\w./-]*", told.replace("STATE/", "STATE:")))
    outside = {path for path in paths if not path.startswith(("/built/", "/usr/", "/run/"))}
    assert outside == {f"/{place.control_group}"}


def test_documents_can_be_read_by_the_programs_they_are_for(place: Place) -> None:
    texts = configuration(place, Path("/opt/cni/bin"))
    kubelet = json.loads(texts["kubelet.json"])
    assert kubelet["clusterDNS"] == ["10.252.3.10"]
    assert kubelet["cgroupRoot"] == "/ack-training-test-3"
    plugins = json.loads(texts["network/pods.conflist"])["plugins"]
    assert [plugin["type"] for plugin in plugins] == ["bridge", "portmap"]
    containerd = tomllib.loads(texts["containerd.toml"])
    assert containerd["root"] == str(place.state / "containerd")
    cri = containerd["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["sandbox_image"] == PAUSE
    assert cri["cni"]["bin_dir"] == "/opt/cni/bin"
    assert "bind 10.250.3.2" in texts["Corefile"]


def test_what_needs_another_starts_in_a_later_stage(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [component.name for component in components(place, monkeypatch)]
    assert len(names) == len(set(names))
    assert names.index("etcd") < names.index("kube-apiserver") < names.index("kubelet")


def test_missing_packages_are_named_once(tmp_path: Path) -> None:
    for name in ("runc", "iptables", "ip", "mount", "nsenter", "unshare", "openssl", "getent"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert missing_packages(str(tmp_path), has_plugins=True) == ["busybox", "containerd"]
    missing = missing_packages(str(tmp_path), has_plugins=False)
    assert missing == ["busybox", "containerd", "containernetworking-plugins"]


def test_ci_installs_what_the_cluster_needs(tmp_path: Path) -> None:
    script = (ROOT / ".ci" / "run").read_text()
    everything = missing_packages(str(tmp_path), has_plugins=False)
    # These are on every Debian.
    needed = set(everything) - {"util-linux", "mount", "libc-bin"}
    assert {name for name in needed if not re.search(rf"[ (]{name}\b", script)} == set()


def test_a_kubeconfig_is_complete_in_itself() -> None:
    config = certificates.kubeconfig("https://10.250.0.2:6443", b"authority", b"mine", b"key")
    text = json.dumps(config)
    assert "/" not in text.replace("https://10.250.0.2:6443", "")
    assert config["current-context"] == "ack-training-test"


@pytest.mark.skipif(not Path("/usr/bin/openssl").exists(), reason="needs openssl")
def test_certificates_are_the_authoritys_and_name_who_they_are_for(place: Place) -> None:
    place.state.mkdir(parents=True)
    certificates.make_certificates(place)
    folder = place.state / "certificates"
    for name in ("serving", *certificates.CLIENTS):
        command = ["openssl", "verify", "-x509_strict", "-CAfile", str(folder / "ca.crt")]
        subprocess.run([*command, str(folder / f"{name}.crt")], check=True, capture_output=True)
    shown = ["openssl", "x509", "-noout", "-subject", "-ext", "subjectAltName", "-in"]
    said = {
        name: subprocess.run(
            [*shown, str(folder / f"{name}.crt")], check=True, capture_output=True, text=True
        ).stdout
        for name in ("serving", "kubelet")
    }
    assert "10.252.3.1" in said["serving"]
    assert "O = system:nodes, CN = system:node:test-node" in said["kubelet"]
    assert os.stat(place.kubeconfig).st_mode & 0o077 == 0


def test_a_simulated_node_offers_what_it_was_given() -> None:
    shape = NodeShape(8, "64Gi", gpus=4, labels={"pool": "a10"})
    node = simulated_node("gpu-0", shape)
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    assert node["metadata"]["labels"]["pool"] == "a10"
    assert node["spec"]["taints"][0]["effect"] == "NoSchedule"
    plain = simulated_node("plain", NodeShape(2, "4Gi", taints=()))
    assert "nvidia.com/gpu" not in plain["status"]["capacity"]
    assert plain["spec"]["taints"] == []
