"""What the node's own mount and network namespaces are made of, once it is in them."""

import time
from pathlib import Path

from toolchain.cluster.place import Place
from toolchain.cluster.programs import run_program
from toolchain.report import Stop

CABLE_END = "kube0"
"""The node's network interface."""

_NETWORK_CACHE = Path("/var/lib/cni")
"""Where the network plugins' library keeps its results; that cannot be told otherwise. The folder
stays when a cluster is taken down: removing it would unmount what others have there."""

_TUNABLES = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
"""The kernel settings that a kubelet asks for, with the values it asks for."""


def isolate_mounts(place: Place) -> None:
    """Afterwards what the cluster's programs write outside their state folder is seen by them
    alone."""
    run_program("mount", "--make-rshared", "/")
    run_program("mount", "-t", "proc", "proc", "/proc")
    run_program("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    for name, target in (("pod-logs", Path("/var/log")), ("network-cache", _NETWORK_CACHE)):
        source = place.state / name
        source.mkdir()
        target.mkdir(parents=True, exist_ok=True)
        run_program("mount", "--bind", str(source), str(target))
    # They are the whole machine's, so the kubelet finds them as it wants them and leaves them.
    folder = place.state / "tunables"
    folder.mkdir()
    for name, value in _TUNABLES.items():
        file = folder / name.replace("/", ".")
        file.write_text(f"{value}\n", encoding="utf-8")
        run_program("mount", "--bind", str(file), f"/proc/sys/{name}")


def set_network_up(place: Place) -> None:
    """Afterwards the node has its address. The cable to it is plugged in from outside."""
    run_program("ip", "link", "set", "lo", "up")
    deadline = time.monotonic() + 30
    while f"{CABLE_END}:" not in Path("/proc/net/dev").read_text(encoding="utf-8"):
        if time.monotonic() > deadline:
            raise Stop("nobody plugged in the cable to the node: the process that starts it ended")
        time.sleep(0.02)
    run_program(
        "ip", "address", "add", f"{place.node_address}/{place.cable.prefixlen}", "dev", CABLE_END
    )
    run_program("ip", "link", "set", CABLE_END, "up")
    # Services are led to their pods on the way out; without a route there would be no way out. Of
    # other addresses there is none: what asks for them learns so at once.
    run_program("ip", "route", "add", str(place.services), "via", str(place.host_address))
    for setting in ("ipv4/ip_forward", "bridge/bridge-nf-call-iptables"):
        file = Path("/proc/sys/net") / setting
        if file.exists():
            file.write_text("1\n", encoding="utf-8")
