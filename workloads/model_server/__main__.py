"""``python -m workloads.model_server``: the flags of tensorflow_model_server, and a clean stop.

Exit codes: 0 after SIGTERM or SIGINT, 2 for flags, an address or an installation that cannot work.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from typing import NoReturn

from workloads.model_server.lifecycle import Lifecycle
from workloads.model_server.server import ModelServer

#: Seconds requests under way get when the server is told to stop.
STOP_PATIENCE = 10.0

#: What asks for a clean stop.
_STOPS = (signal.SIGTERM, signal.SIGINT)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _fail(message)


def _fail(message: str) -> NoReturn:
    print(f"model server: {message}", file=sys.stderr, flush=True)
    # Not sys.exit: other threads may be deep in an import that cannot be interrupted.
    os._exit(2)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="python -m workloads.model_server", allow_abbrev=False)
    parser.add_argument("--rest_api_port", type=int, required=True)
    parser.add_argument("--model_name", default="default")
    parser.add_argument("--model_base_path", required=True)
    parser.add_argument("--file_system_poll_wait_seconds", type=int, default=1)
    parser.add_argument(
        "--port", type=int, default=8500, help="the gRPC port; accepted and not opened"
    )
    parser.add_argument("--host", default="127.0.0.1", help="not a tensorflow_model_server flag")
    parser.add_argument(
        "--max_body_mib", type=int, default=32, help="not a tensorflow_model_server flag"
    )
    options = parser.parse_args(arguments)
    if not 1 <= options.rest_api_port <= 65535:
        _fail(f"--rest_api_port must be 1 to 65535, not {options.rest_api_port}")
    if not options.model_name or any(mark in options.model_name for mark in "/:"):
        _fail(f"--model_name must be a name without / and :, not {options.model_name!r}")
    if not os.path.isabs(options.model_base_path):
        _fail(f"--model_base_path must be an absolute path, not {options.model_base_path!r}")
    if options.file_system_poll_wait_seconds < 0:
        _fail("--file_system_poll_wait_seconds must be 0 (look once) or more")
    if options.max_body_mib < 1:
        _fail(f"--max_body_mib must be 1 or more, not {options.max_body_mib}")
    return options


def _poll(lifecycle: Lifecycle) -> None:
    try:
        lifecycle.run()
    except ImportError as error:
        _fail(f"TensorFlow cannot be imported: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def main(arguments: list[str]) -> NoReturn:
    """Serve until SIGTERM or SIGINT, then answer what is under way and exit 0."""
    options = _parse(arguments)
    # Waited for, not handled: a handler that sets what the main thread waits on can find that
    # thread holding the very lock it needs. Blocked before any thread starts, so in all of them.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    lifecycle = Lifecycle(
        options.model_name,
        Path(options.model_base_path),
        options.file_system_poll_wait_seconds,
    )
    try:
        server = ModelServer(
            options.host, options.rest_api_port, lifecycle, options.max_body_mib * 1024 * 1024
        )
    except OSError as error:
        address = f"{options.host}:{options.rest_api_port}"
        _fail(f"cannot listen on {address}: {error.strerror or error}")
    # The port answers from here on; TensorFlow is imported by the polling thread.
    threading.Thread(target=server.serve_forever, args=(0.1,), name="accept", daemon=True).start()
    threading.Thread(target=_poll, args=(lifecycle,), name="poll", daemon=True).start()
    signal.sigwait(_STOPS)
    answered = server.stop(STOP_PATIENCE)
    if not answered:
        print("model server: stopped with requests unanswered", file=sys.stderr, flush=True)
    sys.stderr.flush()
    # Not sys.exit: see _fail.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
