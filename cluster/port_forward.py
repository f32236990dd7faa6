"""Carries a connection of this machine to a port of a pod, through the API server.

https://github.com/kubernetes/kubernetes/blob/v1.34.4/staging/src/k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go
"""

from __future__ import annotations

import selectors
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cluster.client import Cluster
from cluster.observe import pod_path

_PROTOCOL = "v4.channel.k8s.io"
_DATA, _FAILURE = 0, 1
"""The first byte of a message: bytes of the connection, or what went wrong with it. The first
message of either holds the port's number only."""

_PIECE = 64 * 1024
_SEND_SECONDS = 30.0

_LINGER_SECONDS = 5.0
"""How long a pod that still answers is listened to after this machine's side has said all."""


@dataclass(frozen=True)
class Carried:
    """How a connection ended: whether the pod answered anything; what failed, "" for nothing."""

    answered: bool
    failure: str


def open_port(cluster: Cluster, namespace: str, pod: str, port: int) -> Any:
    """A web socket that leads to the port. That nothing listens there is told by `carry`."""
    return cluster.web_socket(f"{pod_path(namespace, pod)}/portforward", _PROTOCOL, ports=port)


def carry(local: socket.socket, remote: Any) -> Carried:
    """Carries bytes both ways until one side has ended; both are to be closed afterwards."""
    from websocket import WebSocketException

    answered, failure = False, ""
    try:
        for channel, data in _exchanged(local, remote):
            if channel == _DATA:
                local.sendall(data)
                answered = True
            else:
                failure += data.decode(errors="replace")
    except (OSError, WebSocketException) as error:
        failure = failure or str(error) or type(error).__name__
    return Carried(answered, " ".join(failure.split()))


def _exchanged(local: socket.socket, remote: Any) -> Iterator[tuple[int, bytes]]:
    """Sends what comes from `local`; yields channel and content of what comes from the pod."""
    begun: set[int] = set()
    linger: float | None = None
    with selectors.DefaultSelector() as selector:
        selector.register(local, selectors.EVENT_READ)
        selector.register(remote.sock, selectors.EVENT_READ)
        while ready := {key.fileobj for key, _ in selector.select(linger)}:
            if local in ready:
                data = local.recv(_PIECE)
                # The protocol has no word for one side's end. Where the pod's has come, its last
                # messages say why.
                if not data or not _is_sent(remote, data):
                    selector.unregister(local)
                    linger = _LINGER_SECONDS
            for message in _messages(remote):
                if message[0] in begun:
                    yield message[0], message[1:]
                begun.add(message[0])
            if not remote.connected:
                return


def _is_sent(remote: Any, data: bytes) -> bool:
    from websocket import WebSocketException

    try:
        remote.settimeout(_SEND_SECONDS)
        remote.send_binary(bytes([_DATA]) + data)
    except (OSError, WebSocketException):
        return False
    return True


def _messages(remote: Any) -> Iterator[bytes]:
    """What has come by now; afterwards `remote` is no longer connected where the pod ended it."""
    from websocket import ABNF, WebSocketConnectionClosedException

    # Until there is no more: what TLS has decrypted already no selector tells.
    remote.settimeout(0)
    while remote.connected:
        try:
            kind, frame = remote.recv_data_frame(True)
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except WebSocketConnectionClosedException:
            remote.shutdown()
            return
        if kind == ABNF.OPCODE_BINARY and frame.data:
            yield frame.data
