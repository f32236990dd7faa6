"""One HTTP GET without blocking: whether a URL answers 2xx or 3xx."""

from __future__ import annotations

import contextlib
import errno
import os
import socket

TIMEOUT_SECONDS = 5.0


class HealthCheck:
    """A GET on its way. Wait for `fileno` to be ready in either direction, then call `advance`."""

    def __init__(self, url: str, now: float) -> None:
        host, path = _split(url)
        self.deadline = now + TIMEOUT_SECONDS
        self.writing = True
        self.result: bool | None = None
        self._request = f"GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        self._answer = b""
        name, _, port = host.rpartition(":") if _has_port(host) else (host, "", "80")
        name = name.strip("[]")
        self._socket = socket.socket(socket.AF_INET6 if ":" in name else socket.AF_INET)
        self._socket.setblocking(False)
        try:
            code = self._socket.connect_ex((name, int(port)))
        except (OSError, OverflowError):
            code = errno.EINVAL
        if code not in (0, errno.EINPROGRESS):
            self.end(False)

    def fileno(self) -> int:
        """The socket, for a selector."""
        return self._socket.fileno()

    def advance(self) -> None:
        """Goes on as far as possible; `result` is set once the answer is known."""
        try:
            if self.writing:
                error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if error:
                    raise OSError(error, os.strerror(error))
                # A few dozen bytes always fit into the buffer of a new connection.
                self._socket.send(self._request)
                self.writing = False
                return
            chunk = self._socket.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            self.end(False)
            return
        self._answer += chunk
        if b"\n" in self._answer or not chunk or len(self._answer) > 4096:
            status = self._answer.split(b"\r\n")[0].split(b" ")
            self.end(
                status[0].startswith(b"HTTP/")
                and status[1:2] != []
                and status[1][:1] in (b"2", b"3")
            )

    def end(self, result: bool) -> None:
        """Closes the connection."""
        self.result = result
        with contextlib.suppress(OSError):
            self._socket.close()


def _split(url: str) -> tuple[str, str]:
    host, slash, path = url.removeprefix("http://").partition("/")
    return host, slash + path if slash else "/"


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdigit() and (host.count(":") == 1 or "]:" in host)
