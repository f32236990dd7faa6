"""The cable between this machine and the node: a pair of network interfaces, and the way to pods
and services through it."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network

from toolchain.cluster.isolation import CABLE_END
from toolchain.cluster.place import Place
from toolchain.cluster.programs import environment, program, run_program
from toolchain.report import Stop


def plug_in(place: Place, pid: int) -> None:
    """Connects the network namespace of `pid`. All of it goes when that namespace goes."""
    address = f"{place.host_address}/{place.cable.prefixlen}"
    run_program(
        "ip",
        "link",
        "add",
        place.link,
        "type",
        "veth",
        "peer",
        "name",
        CABLE_END,
        "netns",
        str(pid),
    )
    run_program("ip", "address", "add", address, "dev", place.link)
    run_program("ip", "link", "set", place.link, "up")
    for network in (place.pods, place.services):
        way = ("via", str(place.node_address), "dev", place.link)
        # The node's end may come up a moment later than this one.
        run_program("ip", "route", "add", str(network), *way, "onlink")


def unplug(place: Place) -> None:
    """Afterwards this machine has no interface to the node. It is gone already, or about to be,
    when the node's processes have ended."""
    subprocess.run(
        [program("ip"), "link", "delete", place.link],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if place.link in {
        link["ifname"] for link in json.loads(run_program("ip", "-json", "link", "show"))
    }:
        raise Stop(f"the network interface {place.link} cannot be removed")


def ensure_free_addresses(place: Place) -> None:
    """Raises Stop when this machine has another use for the cluster's addresses."""
    routes = [
        route.get("dst", "")
        for route in json.loads(run_program("ip", "-4", "-json", "route", "show"))
    ]
    taken = overlapping(routes, [place.cable, place.pods, place.services])
    if taken:
        raise Stop(f"{taken} is in use on this machine: choose another --instance (0 to 255)")


def overlapping(routes: Iterable[str], wanted: Sequence[IPv4Network]) -> str:
    """The first destination in `routes` that shares an address with `wanted`, "" if none does."""
    for route in routes:
        if route != "default" and any(IPv4Network(route).overlaps(one) for one in wanted):
            return route
    return ""
