"""A cluster as tests use it: one of this machine's own, or one that was given."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolchain.cluster import simulated_nodes
from toolchain.cluster.certificates import Identity, write_kubeconfig
from toolchain.cluster.images import import_image
from toolchain.cluster.place import Place
from toolchain.cluster.simulated_nodes import NodeShape


@dataclass(frozen=True)
class Cluster:
    """`place` is None for a cluster that was given: there, tests of what only an own one can be
    used for are skipped. `busybox` is an image with a shell, busybox and getent."""

    kubeconfig: Path
    kubectl_program: Path
    busybox: str
    place: Place | None

    def run(
        self, *arguments: str, stdin: str = "", kubeconfig: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.kubectl_program, f"--kubeconfig={kubeconfig or self.kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        """What kubectl prints; it must end well."""
        ran = self.run(*arguments, stdin=stdin)
        assert ran.returncode == 0, f"kubectl {' '.join(arguments)}: {ran.stderr}"
        return ran.stdout

    def get(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.kubectl("get", *arguments, "-o", "json"))
        return found

    def apply(self, *items: dict[str, Any]) -> None:
        together = {"apiVersion": "v1", "kind": "List", "items": list(items)}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(together))

    def import_image(self, archive: Path, names: Sequence[str]) -> None:
        import_image(self._own("images come to it from a registry"), archive, names)

    def add_nodes(self, name: str, count: int, shape: NodeShape) -> list[str]:
        return simulated_nodes.add_nodes(self._own("it has no kwok"), name, count, shape)

    def user(self, name: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig of a user who may do nothing unless a role binding says so."""
        place = self._own("users are made by its owner")
        return write_kubeconfig(place, f"user-{name}", Identity(name, tuple(groups)))

    def _own(self, reason: str) -> Place:
        if self.place is None:
            pytest.skip(f"not in a given cluster: {reason}")
        return self.place


def given_cluster() -> Cluster | None:
    """The cluster of KUBECONFIG, when that is set."""
    files = os.environ.get("KUBECONFIG", "")
    if not files:
        return None
    file = Path(files)
    if not file.is_file():
        pytest.exit(f"KUBECONFIG={files} is not a file: name one, or unset it", returncode=4)
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.exit("the tests in the cluster of KUBECONFIG need kubectl on PATH", returncode=4)
    busybox = os.environ.get("ACK_TRAINING_TEST_BUSYBOX", "docker.io/library/busybox:1.36")
    return Cluster(file, Path(kubectl), busybox, None)
