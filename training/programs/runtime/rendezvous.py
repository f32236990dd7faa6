"""Brings the processes of a multi-worker job together before TensorFlow connects them.

MultiWorkerMirroredStrategy waits for missing workers without limit, in native code that lets no
Python thread run, and takes a worker of an earlier start for a present one. So each process first
listens on its own port and exchanges one line with each peer: after it, every peer is a live
process that is about to create its strategy, and a missing one can be named.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from runtime.cluster import Cluster, Replica
from runtime.guards import StartDeadline, bind_everywhere, wait_for_own_port

_GREETING = "ack-training"
_REPLY_SECONDS = 10.0


def meet(
    cluster: Cluster, job: str, deadline: StartDeadline, while_waiting: Callable[[], None]
) -> None:
    """Returns once every peer greeted or was greeted, this replica's port being free again.

    Raises ReplicaError, naming who did not come, past the deadline.
    """
    wait_for_own_port(cluster.task, deadline)
    met: set[str] = set()
    with bind_everywhere(cluster.task.host_port[1]) as server:
        server.listen(128)
        listener = threading.Thread(target=_listen, args=(server, cluster, job, met), daemon=True)
        listener.start()
        while missing := [peer for peer in cluster.peers if peer.name not in met]:
            for peer in missing:
                if _greet(peer, cluster.task, job):
                    met.add(peer.name)
            if deadline.passed and (missing := [p for p in missing if p.name not in met]):
                raise deadline.missed(missing)
            while_waiting()
            time.sleep(0.1)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        listener.join()


def _line(replica: Replica, job: str) -> bytes:
    return f"{_GREETING} {job} {replica.name}\n".encode()


def _greet(peer: Replica, task: Replica, job: str) -> bool:
    """Whether `peer` is a process of this job that is at its rendezvous too."""
    try:
        with socket.create_connection(peer.host_port, timeout=_REPLY_SECONDS) as connection:
            connection.settimeout(_REPLY_SECONDS)
            connection.sendall(_line(task, job))
            return _read_line(connection) == _line(peer, job)
    except OSError:
        return False


def _listen(server: socket.socket, cluster: Cluster, job: str, met: set[str]) -> None:
    known = {_line(peer, job): peer.name for peer in cluster.peers}
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        arguments = (connection, known, _line(cluster.task, job), met)
        threading.Thread(target=_reply, args=arguments, daemon=True).start()


def _reply(connection: socket.socket, known: dict[bytes, str], reply: bytes, met: set[str]) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(_REPLY_SECONDS)
        name = known.get(_read_line(connection))
        if name:
            connection.sendall(reply)
            met.add(name)


def _read_line(connection: socket.socket) -> bytes:
    """Up to the first end of line. A peer that went on to TensorFlow opens with an HTTP/2 preface,
    which has one too: it must be turned away at once, for gRPC waits 20 s for an answer."""
    received = b""
    while b"\n" not in received and len(received) < 512:
        part = connection.recv(512)
        if not part:
            break
        received += part
    return received
