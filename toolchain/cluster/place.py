"""Where a test cluster lies and which names and addresses are its own."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from toolchain.places import cache

NODE = "test-node"
DOMAIN = "cluster.local"


@dataclass(frozen=True)
class Place:
    """Two clusters of different `instance` (0 to 255) can run side by side."""

    instance: int

    @property
    def folder(self) -> Path:
        """Stays when the cluster is taken down: who takes it up or down holds it."""
        return cache() / "clusters" / str(self.instance)

    @property
    def state(self) -> Path:
        """All files of the cluster; there while it is up."""
        return self.folder / "state"

    @property
    def kubeconfig(self) -> Path:
        """Of an administrator of the cluster."""
        return self.state / "admin.kubeconfig"

    def log(self, component: str) -> Path:
        return self.state / "log" / f"{component}.log"

    @property
    def link(self) -> str:
        """This machine's end of the cable to the node."""
        return f"ack-test-{self.instance}"

    @property
    def control_group(self) -> str:
        return f"ack-training-test-{self.instance}"

    @property
    def cable(self) -> IPv4Network:
        return IPv4Network(f"10.250.{self.instance}.0/30")

    @property
    def host_address(self) -> IPv4Address:
        return self.cable[1]

    @property
    def node_address(self) -> IPv4Address:
        return self.cable[2]

    @property
    def pods(self) -> IPv4Network:
        return IPv4Network(f"10.251.{self.instance}.0/24")

    @property
    def services(self) -> IPv4Network:
        return IPv4Network(f"10.252.{self.instance}.0/24")

    @property
    def dns_address(self) -> IPv4Address:
        return self.services[10]

    @property
    def server(self) -> str:
        return f"https://{self.node_address}:6443"
