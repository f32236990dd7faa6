"""The programs of the node: what each is started with, and where it says that it is well."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolchain.cluster.configuration import SOCKET
from toolchain.cluster.place import DOMAIN, NODE, Place
from toolchain.cluster.programs import program

SIMULATED = "kwok.x-k8s.io/node=fake"
"""The annotation of nodes that kwok runs."""


@dataclass(frozen=True)
class Component:
    """`health` is an address that answers 200, or a command that ends with 0, once it can be
    used."""

    name: str
    command: tuple[str, ...]
    health: str | tuple[str, ...]


def stages(place: Place, programs: Mapping[str, Path]) -> list[list[Component]]:
    """What can start at once, in the order in which one stage needs another."""
    state = place.state
    containerd = (program("containerd"), f"--config={state / 'containerd.toml'}")
    version = (program("ctr"), f"--address={SOCKET}", "version")
    return [
        [
            Component("etcd", _etcd(place, programs["etcd"]), "http://127.0.0.1:2379/health"),
            Component("containerd", containerd, version),
        ],
        [
            Component(
                "kube-apiserver",
                _api_server(place, programs["kube-apiserver"]),
                f"{place.server}/readyz",
            )
        ],
        [
            Component(
                "kubelet",
                (
                    str(programs["kubelet"]),
                    f"--config={state / 'kubelet.json'}",
                    f"--kubeconfig={state / 'kubelet.kubeconfig'}",
                    f"--root-dir={state / 'kubelet'}",
                    f"--hostname-override={NODE}",
                    f"--node-ip={place.node_address}",
                ),
                "http://127.0.0.1:10248/healthz",
            ),
            Component(
                "kube-controller-manager",
                _controller_manager(place, programs["kube-controller-manager"]),
                "https://127.0.0.1:10257/healthz",
            ),
            Component(
                "kube-scheduler",
                (
                    str(programs["kube-scheduler"]),
                    *_client(place, "kube-scheduler"),
                    *_serving(place),
                ),
                "https://127.0.0.1:10259/healthz",
            ),
            Component(
                "kube-proxy",
                (
                    str(programs["kube-proxy"]),
                    f"--config={state / 'kube-proxy.json'}",
                    f"--hostname-override={NODE}",
                ),
                "http://127.0.0.1:10256/healthz",
            ),
            Component(
                "coredns",
                (str(programs["coredns"]), "-conf", str(state / "Corefile")),
                "http://127.0.0.1:8181/ready",
            ),
            Component("kwok", _kwok(place, programs["kwok"]), "http://127.0.0.1:10247/healthz"),
        ],
    ]


def _etcd(place: Place, etcd: Path) -> tuple[str, ...]:
    client = "http://127.0.0.1:2379"
    return (
        str(etcd),
        f"--data-dir={place.state / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        "--listen-peer-urls=http://127.0.0.1:2380",
        # What it holds is gone with the cluster anyway.
        "--unsafe-no-fsync",
    )


def _api_server(place: Place, server: Path) -> tuple[str, ...]:
    certificates = place.state / "certificates"
    return (
        str(server),
        "--etcd-servers=http://127.0.0.1:2379",
        "--bind-address=0.0.0.0",
        "--secure-port=6443",
        f"--advertise-address={place.node_address}",
        f"--service-cluster-ip-range={place.services}",
        f"--client-ca-file={certificates / 'ca.crt'}",
        *_serving(place),
        f"--kubelet-certificate-authority={certificates / 'ca.crt'}",
        f"--kubelet-client-certificate={certificates / 'admin.crt'}",
        f"--kubelet-client-key={certificates / 'admin.key'}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-account-issuer=https://kubernetes.default.svc.{DOMAIN}",
        f"--service-account-key-file={certificates / 'accounts.key'}",
        f"--service-account-signing-key-file={certificates / 'accounts.key'}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
    )


def _controller_manager(place: Place, manager: Path) -> tuple[str, ...]:
    certificates = place.state / "certificates"
    return (
        str(manager),
        *_client(place, "kube-controller-manager"),
        *_serving(place),
        # Without it no pod could verify the API server.
        f"--root-ca-file={certificates / 'ca.crt'}",
        f"--service-account-private-key-file={certificates / 'accounts.key'}",
        f"--cluster-signing-cert-file={certificates / 'ca.crt'}",
        f"--cluster-signing-key-file={certificates / 'ca.key'}",
        f"--flex-volume-plugin-dir={place.state / 'volume-plugins'}",
        "--use-service-account-credentials",
        "--kube-api-qps=100",
        "--kube-api-burst=200",
    )


def _kwok(place: Place, kwok: Path) -> tuple[str, ...]:
    return (
        str(kwok),
        f"--kubeconfig={place.kubeconfig}",
        f"--manage-nodes-with-annotation-selector={SIMULATED}",
        # Without a file it would read the user's.
        f"--config={place.state / 'kwok.yaml'}",
        "--cidr=10.253.0.0/16",
        "--node-lease-duration-seconds=40",
        "--server-address=127.0.0.1:10247",
    )


def _client(place: Place, name: str) -> tuple[str, ...]:
    file = place.state / f"{name}.kubeconfig"
    return (
        f"--kubeconfig={file}",
        f"--authentication-kubeconfig={file}",
        f"--authorization-kubeconfig={file}",
        "--leader-elect=false",
    )


def _serving(place: Place) -> tuple[str, ...]:
    certificates = place.state / "certificates"
    return (
        f"--tls-cert-file={certificates / 'serving.crt'}",
        f"--tls-private-key-file={certificates / 'serving.key'}",
    )
