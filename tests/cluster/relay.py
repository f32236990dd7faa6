"""A way to the API server that can be cut: a relay on the loopback interface."""

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import yaml


class Relay:
    """Leads to the API server of a kubeconfig, from a port that stays the same."""

    def __init__(self, kubeconfig: Path) -> None:
        self._document = yaml.safe_load(kubeconfig.read_text())
        self._cluster: dict[str, str] = self._document["clusters"][0]["cluster"]
        parts = urlsplit(self._cluster["server"])
        self._server = (str(parts.hostname), parts.port or 443)
        self._open: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._port = self._listening.getsockname()[1]
        self._accept()

    def write_kubeconfig(self, file: Path) -> Path:
        """A kubeconfig that goes this way."""
        self._cluster["server"] = f"https://127.0.0.1:{self._port}"
        self._cluster["tls-server-name"] = self._server[0]
        file.write_text(json.dumps(self._document))
        return file

    def cut(self) -> None:
        """Ends every connection; no other is taken."""
        for each in (self._listening, *self._open):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
            finally:
                each.close()
        self._open.clear()

    def mend(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self._port))
        self._accept()

    def _accept(self) -> None:
        _beside(self._serve, self._listening)

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            far = socket.create_connection(self._server)
            self._open += [near, far]
            _beside(_copy, near, far)
            _beside(_copy, far, near)


def _beside(work: Callable[..., None], *ends: socket.socket) -> None:
    threading.Thread(target=work, args=ends, daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return
