"""A port of this machine that leads to a service in the cluster, through the API server alone."""

from __future__ import annotations

import errno
import socket
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from cluster.client import Cluster
from cluster.errors import ClusterError, RefusedError
from cluster.lookup import find
from cluster.port_forward import carry, open_port
from console.choice import TO_BE_MADE, NotFoundError
from console.cluster.services import pods_of, ready_pod, why_not_ready

_PREFERRED = range(6006, 6026)
_WAITING = 128
"""Connections that may wait to be taken: a page of TensorBoard opens a dozen at once."""

_CHOSEN_SECONDS = 5.0
"""How long a pod is believed to be ready: one whose node is lost takes connections in silence."""


def listen(port: int | None) -> socket.socket:
    """A listening socket of the loopback interface: at `port`, else at 6006 or the next free.

    NotFoundError when a port that was named cannot be had.
    """
    if port is not None:
        try:
            return _listening(port)
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            why = "is taken by another program" if taken else f"cannot be had: {error.strerror}"
            raise NotFoundError(f"port {port} {why}: name another, PORT={port + 1}") from None
    for preferred in _PREFERRED:
        try:
            return _listening(preferred)
        except OSError:
            continue
    return _listening(0)


def read_deployment(cluster: Cluster, namespace: str, name: str) -> Mapping[str, Any] | None:
    """The Deployment; None when there is none."""
    return find(cluster, f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")


class Forward:
    """Leads each connection to a pod of the Deployment `name` that is ready when it comes."""

    def __init__(self, cluster: Cluster, namespace: str, name: str, port: int) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._name = name
        self._port = port
        self._lock = threading.Lock()
        self._pod: str | None = None
        self._chosen_at = 0.0
        self._told = ""

    def choose(self) -> str:
        """The name of a ready pod; NotFoundError says why there is none."""
        with self._lock:
            now = time.monotonic()
            if self._pod is not None and now - self._chosen_at < _CHOSEN_SECONDS:
                return self._pod
            found = self._ready_pod()
            if self._pod not in (None, found):
                self._tell(f"{self._name} has a new pod, {found}")
            self._pod, self._chosen_at = found, now
            return found

    def serve(self, server: socket.socket) -> None:
        """Takes connections until interrupted."""
        self._tell(f"from {self._name} in {self._cluster.name}; ctrl-C ends this")
        while True:
            local, _ = server.accept()
            # A daemon: who presses ctrl-C does not wait for what is under way.
            threading.Thread(target=self._lead, args=(local,), daemon=True).start()

    def _lead(self, local: socket.socket) -> None:
        with local:
            try:
                remote = self._open()
            except (ClusterError, NotFoundError) as error:
                self._refuse(local, str(error))
                return
            try:
                carried = carry(local, remote)
            finally:
                remote.shutdown()
            if carried.failure and not carried.answered:
                self._forget()
                self._refuse(local, f"{self._name} does not answer: {carried.failure}")
            else:
                self._told = ""

    def _open(self) -> Any:
        pod = self.choose()
        try:
            return open_port(self._cluster, self._namespace, pod, self._port)
        except RefusedError:
            # It is gone, or its node: there may be another one.
            self._forget()
            return open_port(self._cluster, self._namespace, self.choose(), self._port)

    def _forget(self) -> None:
        self._chosen_at = 0.0

    def _ready_pod(self) -> str:
        deployment = read_deployment(self._cluster, self._namespace, self._name)
        place = f"namespace {self._namespace} of {self._cluster.name}"
        if deployment is None:
            raise NotFoundError(f"there is no {self._name} in {place}: {TO_BE_MADE}")
        labels = deployment["spec"]["selector"].get("matchLabels", {})
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        path = f"/api/v1/namespaces/{self._namespace}"
        pods = self._cluster.get(f"{path}/pods", labelSelector=selector)["items"]
        found = ready_pod(pods_of(deployment, pods, ()))
        if found is not None:
            return found.name
        events = self._cluster.get(f"{path}/events")["items"]
        why = why_not_ready(pods_of(deployment, pods, events))
        raise NotFoundError(f"{self._name} is not ready: {why}")

    def _refuse(self, local: socket.socket, why: str) -> None:
        """Says so where a browser shows it, and once where the user started this."""
        self._tell(why)
        text = why.encode()
        head = (
            "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n"
        )
        try:
            local.sendall(head.encode() + text)
        except OSError:
            return

    def _tell(self, note: str) -> None:
        if note != self._told:
            self._told = note
            print(f"({note})", file=sys.stderr, flush=True)


def _listening(port: int) -> socket.socket:
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen(_WAITING)
    except OSError:
        server.close()
        raise
    return server
