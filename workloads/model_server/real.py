"""`python -m workloads.model_server.real`: TensorFlow Serving's own tensorflow_model_server.

It opens its ports only once it has loaded a first version, and gives up without one. So until
there is an export this program answers on its port in its place; then it becomes that server.

    python -m workloads.model_server.real PROGRAM --rest_api_port=P --model_name=M …

Arguments after PROGRAM are the server's own. Exit codes: that server's, or 2 for wrong arguments.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from workloads.model_server.versions import scan

_POLL_SECONDS = 1.0


class _Waiting(BaseHTTPRequestHandler):
    #: What is said of the model; changed when the exports cannot be read.
    state = "waiting for first export"
    #: The one path that is answered: whoever asks for another model must not take this for it.
    path_of_model = ""

    def do_GET(self) -> None:
        known = self.path.partition("?")[0] == self.path_of_model
        answer = {"state": self.state} if known else {"error": f"Not found: {self.path[:200]}"}
        body = json.dumps(answer).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Health checks are no news."""


def main(arguments: list[str]) -> None:
    """Waits for a version below --model_base_path, then is PROGRAM."""
    options = dict(word.removeprefix("--").split("=", 1) for word in arguments[1:] if "=" in word)
    try:
        port, exports = int(options["rest_api_port"]), Path(options["model_base_path"])
    except (KeyError, ValueError):
        print("model server: --rest_api_port and --model_base_path are needed", file=sys.stderr)
        sys.exit(2)
    if not _has_version(exports):
        _Waiting.path_of_model = f"/v1/models/{quote(options.get('model_name', 'default'))}"
        server = ThreadingHTTPServer(("127.0.0.1", port), _Waiting)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        while not _has_version(exports):
            time.sleep(_POLL_SECONDS)
        server.shutdown()
        server.server_close()
    os.execv(arguments[0], arguments)


def _has_version(exports: Path) -> bool:
    try:
        found = bool(scan(exports))
        state = "waiting for first export"
    except OSError as error:
        # It may become readable; the server itself would give up on it.
        found, state = False, f"{exports} cannot be read: {error.strerror or error}"
    if state != _Waiting.state:
        print(f"model server: {state}", file=sys.stderr, flush=True)
        _Waiting.state = state
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
