"""The cluster's DNS service: CoreDNS runs on the node itself, pods reach it at a service's
address."""

import socket
import struct
from typing import Any

from toolchain.cluster.api import Api
from toolchain.cluster.place import DOMAIN, NODE, Place

_NAMESPACE = "kube-system"
_NAME = "kube-dns"
_PORTS = (("dns", "UDP"), ("dns-tcp", "TCP"))


def made_dns_service(api: Api, place: Place) -> bool:
    """Makes the service, at the address that pods are told. Raises Unreachable until the server
    has made its namespace."""
    services = f"/api/v1/namespaces/{_NAMESPACE}/services"
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{_NAMESPACE}/endpointslices"
    api.create(services, _service(place))
    api.create(slices, _endpoints(place))
    return True


def resolves(place: Place) -> bool:
    """Whether the DNS service knows the API server's name, through the service's address."""
    name = f"kubernetes.default.svc.{DOMAIN}"
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    # A query with id 1, one question: the name's IPv4 address in the Internet.
    query = struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(1.0)
        try:
            udp.sendto(query, (str(place.dns_address), 53))
            answer = udp.recv(512)
        except OSError:
            return False
    return answer.endswith(place.services[1].packed)


def _service(place: Place) -> dict[str, Any]:
    ports = [{"name": name, "port": 53, "protocol": protocol} for name, protocol in _PORTS]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _NAME, "namespace": _NAMESPACE},
        "spec": {"clusterIP": str(place.dns_address), "ports": ports},
    }


def _endpoints(place: Place) -> dict[str, Any]:
    ports = [{"name": name, "port": 53, "protocol": protocol} for name, protocol in _PORTS]
    labels = {"kubernetes.io/service-name": _NAME}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{_NAME}-{NODE}", "namespace": _NAMESPACE, "labels": labels},
        "addressType": "IPv4",
        "ports": ports,
        "endpoints": [{"addresses": [str(place.node_address)], "conditions": {"ready": True}}],
    }
