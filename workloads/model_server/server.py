"""The HTTP side: sockets, sizes, time limits, and a stop that answers what is under way."""

from __future__ import annotations

import json
import os
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from workloads.model_server import routes
from workloads.model_server.lifecycle import Lifecycle
from workloads.model_server.tensors import ApiError

#: Seconds a connection may stay silent, between requests and within one.
IDLE_SECONDS = 60.0

#: How much of a refused body is read and thrown away, so that its sender gets to see the refusal.
DISCARD_BYTES = 256 * 1024 * 1024


class ModelServer(ThreadingHTTPServer):
    """Answers for one model on one address. The port is bound once it is constructed.

    Raises OSError when the address cannot be bound.
    """

    daemon_threads = True
    # Threads are counted below instead: an idle kept-alive connection must not hold up a stop.
    block_on_close = False
    request_queue_size = 128

    def __init__(self, host: str, port: int, lifecycle: Lifecycle, max_body: int) -> None:
        self.lifecycle = lifecycle
        self.max_body = max_body
        self.stopping = False
        # More at once only makes each slower and the memory of their bodies add up.
        self.predictions = threading.BoundedSemaphore(4 * (os.cpu_count() or 1))
        self._under_way = 0
        self._changed = threading.Condition()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        # HTTPServer would look the host's name up in DNS, which can take many seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exc_info()[1]
        # A client that hangs up is its own business.
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"request failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)

    def count(self, step: int) -> None:
        """Note that a request has begun (+1) or has been answered (-1)."""
        with self._changed:
            self._under_way += step
            self._changed.notify_all()

    def stop(self, patience: float) -> bool:
        """Take no more requests and wait for those under way, at most ``patience`` seconds.

        True when every one was answered.
        """
        self.stopping = True
        self.shutdown()
        self.server_close()
        deadline = time.monotonic() + patience
        with self._changed:
            return self._changed.wait_for(
                lambda: self._under_way == 0, max(0.0, deadline - time.monotonic())
            )


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    server_version = "model-server"
    sys_version = ""
    timeout = IDLE_SECONDS
    # Header and body leave in one packet; without it a kept-alive client waits 40 ms per answer.
    wbufsize = -1
    disable_nagle_algorithm = True

    #: Whether the request under way is in the server's count.
    _counted = False
    #: Bytes of a refused body that are still on their way.
    _left_over = 0

    def do_GET(self) -> None:
        # A body of a GET would be taken for the next request.
        if self.headers.get("Content-Length", "0").strip() != "0":
            self.close_connection = True
        self._serve(routes.get)

    def do_POST(self) -> None:
        def predict(target: str, lifecycle: Lifecycle) -> routes.Answer:
            body = self._body()
            with self.server.predictions:
                return routes.post(target, body, lifecycle)

        self._serve(predict)
        self._discard()

    def do_PUT(self) -> None:
        def refuse(target: str, _: Lifecycle) -> routes.Answer:
            # Read all the same: it would be taken for the next request.
            self._body()
            raise routes.unknown_path(self.command, target)

        self._serve(refuse)
        self._discard()

    # The methods that TensorFlow Serving takes in and finds malformed.
    do_DELETE = do_HEAD = do_PATCH = do_PUT

    def handle_expect_100(self) -> bool:
        # The answers are buffered; this one is waited for before anything else is sent.
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses by itself (a bad request line, TRACE) is JSON too."""
        self.close_connection = True
        self._answer(int(code), {"error": message or explain or "Malformed request"})

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        finally:
            if self._counted:
                self._counted = False
                self.server.count(-1)

    def parse_request(self) -> bool:
        # Called once the request line is read: from here on a stop waits for the answer.
        self._counted = True
        self.server.count(+1)
        return super().parse_request()

    def _serve(self, route: Callable[[str, Lifecycle], routes.Answer]) -> None:
        try:
            self._answer(200, route(self.path, self.server.lifecycle))
        except ApiError as error:
            self._answer(error.status, {"error": error.message})
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:
            self._answer(500, {"error": f"{type(error).__name__}: {error}"})

    def log_message(self, format: str, *args: object) -> None:
        """No line per request: the log holds what happens to versions."""

    def _length(self) -> int:
        text = self.headers.get("Content-Length", "0").strip()
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            self.close_connection = True
            raise ApiError(400, f"Content-Length is not a number: {text[:40]}")
        return int(text)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding"):
            self.close_connection = True
            raise ApiError(411, "Send the body with a Content-Length, not in chunks")
        coding = self.headers.get("Content-Encoding", "identity").strip().lower()
        length = self._length()
        if coding != "identity":
            self.close_connection = True
            self._left_over = length
            raise ApiError(415, f"Send the body plain, not with Content-Encoding {coding[:40]}")
        if length > self.server.max_body:
            self.close_connection = True
            self._left_over = length
            raise ApiError(
                413, f"Request body of {length} bytes is over the limit of {self.server.max_body}"
            )
        try:
            body = self.rfile.read(length)
        except TimeoutError:
            self.close_connection = True
            raise ApiError(408, f"Request body did not arrive within {IDLE_SECONDS:g} s") from None
        if len(body) < length:
            raise ConnectionAbortedError("the client hung up within its request")
        return body

    def _discard(self) -> None:
        """Read what is left of a refused body: closing at once would reset the connection and
        take the answer away from a client that is still sending."""
        left = min(self._left_over, DISCARD_BYTES)
        while left > 0 and not self.server.stopping:
            chunk = self.rfile.read(min(left, 65536))
            if not chunk:
                return
            left -= len(chunk)

    def _answer(self, status: int, answer: routes.Answer) -> None:
        payload = json.dumps(answer, ensure_ascii=False, indent=1 if status == 200 else None)
        body = payload.encode("utf-8", errors="replace")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.server.stopping or self.close_connection:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        # An answer to HEAD ends with its header; a body would be taken for the next answer.
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()
