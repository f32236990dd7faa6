"""`python -m toolchain.cluster.node INSTANCE`: the first process of a test cluster's node.

Started in fresh PID, mount and network namespaces, it starts the cluster's programs, says in the
state folder how far it is, and then collects the processes that end there. When it is killed, the
kernel ends all others of its PID namespace.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from toolchain.cluster.api import Api, Unreachable
from toolchain.cluster.cluster_dns import made_dns_service, resolves
from toolchain.cluster.components import Component, stages
from toolchain.cluster.isolation import isolate_mounts, set_network_up
from toolchain.cluster.place import NODE, Place
from toolchain.cluster.programs import cluster_programs, environment
from toolchain.report import Stop, say

_PATIENCE_SECONDS = 120.0
"""For each thing waited for, on a busy machine; 1 to 8 is usual."""

Running = dict[Component, subprocess.Popen[bytes]]


class Failed(Exception):
    def __init__(self, component: str, reason: str) -> None:
        super().__init__(reason)
        self.component = component


def run(place: Place) -> None:
    # In the old /proc this is the process id that the machine knows it by.
    _tell(place, "pid", os.readlink("/proc/self"))
    try:
        isolate_mounts(place)
        set_network_up(place)
        running = _start_all(place)
        _tell(place, "ready", "")
    except Stop as reason:
        _tell(place, "failed", json.dumps({"component": "node", "reason": str(reason)}))
        return
    except Failed as failed:
        told = {"component": failed.component, "reason": str(failed)}
        _tell(place, "failed", json.dumps(told))
        return
    names = {process.pid: component.name for component, process in running.items()}
    while True:  # at least one component runs, or there is nothing more to run
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return
        if pid in names:
            text = f"{names[pid]} ended with {os.waitstatus_to_exitcode(status)}"
            _tell(place, f"ended-{names[pid]}", text)


def _start_all(place: Place) -> Running:
    api = Api(place)
    running: Running = {}
    for stage in stages(place, cluster_programs()):
        running |= {component: _start(place, component) for component in stage}
        for component in stage:
            _await(running, component.name, "is not well", _health(api, component))
            say(f"{time.strftime('%X')} {component.name} is well")
    _await(running, "kubelet", "has no Ready node", lambda: _node_is_ready(api))
    account = "/api/v1/namespaces/default/serviceaccounts/default"
    manager = "kube-controller-manager"
    _await(running, manager, "made no default account", lambda: api.get(account) is not None)
    _await(running, "coredns", "has no service", lambda: made_dns_service(api, place))
    _await(running, "kube-proxy", "does not lead to the DNS service", lambda: resolves(place))
    say(f"{time.strftime('%X')} ready")
    return running


def _start(place: Place, component: Component) -> subprocess.Popen[bytes]:
    say(f"{time.strftime('%X')} starting {component.name}")
    with place.log(component.name).open("wb") as log:
        return subprocess.Popen(
            component.command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=place.state,
        )


def _await(running: Running, component: str, lack: str, reached: Callable[[], bool]) -> None:
    """Until `reached`; raises Failed when it takes too long or a component ends."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    why = ""
    while True:
        for each, process in running.items():
            if process.poll() is not None:
                raise Failed(each.name, f"ended with {process.returncode}")
        try:
            if reached():
                return
        except Unreachable as reason:
            why = f": {reason}"
        if time.monotonic() > deadline:
            raise Failed(component, f"{lack} after {_PATIENCE_SECONDS:.0f} s{why}")
        time.sleep(0.05)


def _health(api: Api, component: Component) -> Callable[[], bool]:
    health = component.health
    if isinstance(health, str):
        return lambda: api.well(health)
    return lambda: _ends_well(health)


def _ends_well(command: Sequence[str]) -> bool:
    ran = subprocess.run(command, env=environment(), capture_output=True, check=False)
    return ran.returncode == 0


def _node_is_ready(api: Api) -> bool:
    node: Mapping[str, object] = api.get(f"/api/v1/nodes/{NODE}") or {}
    status = node.get("status")
    conditions = status.get("conditions", []) if isinstance(status, dict) else []
    return [one["status"] for one in conditions if one["type"] == "Ready"] == ["True"]


def _tell(place: Place, name: str, text: str) -> None:
    """Whoever reads the file sees all of it."""
    aside = place.state / f".{name}"
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, place.state / name)


if __name__ == "__main__":
    run(Place(int(sys.argv[1])))
