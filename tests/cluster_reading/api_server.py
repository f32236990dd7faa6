"""A stand-in for an API server: what it answers is up to the test."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Request"], tuple[int, Any]]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class ApiServer:
    url: str
    requests: list[Request] = field(default_factory=list)


@contextmanager
def api_server(answer: Answer) -> Iterator[ApiServer]:
    """Serves on the loopback interface. A text is answered as it is, all else as JSON."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            request = Request(self.command, self.path, dict(self.headers), body)
            server.requests.append(request)
            status, content = answer(request)
            data = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _reply

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server = ApiServer(f"http://127.0.0.1:{listening.server_address[1]}")
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def kubeconfig(server: str, user: dict[str, Any] | None = None, **cluster: Any) -> str:
    """The text of a kubeconfig with the one context `dev`."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
            "users": [{"name": "u", "user": user or {}}],
            "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "dev",
        }
    )
