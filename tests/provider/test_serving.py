"""Waiting for what a job exported to be served."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from provider import serving
from provider.kinds import Call

WAITING: dict[str, Any] = {"state": "waiting for first export"}


def states(**versions: tuple[str, str]) -> dict[str, Any]:
    return {
        "model_version_status": [
            {
                "version": version.removeprefix("v"),
                "state": state,
                "status": {"error_code": "OK", "error_message": message},
            }
            for version, (state, message) in versions.items()
        ]
    }


class Server:
    """Gives each answer once, and the last one for ever."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any] | None] = []
        self.asked: list[str] = []


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    script = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script.asked.append(self.path)
            answer = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            body = json.dumps(answer).encode()
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    real = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=real.serve_forever)
    thread.start()
    monkeypatch.setattr(serving, "port_of", lambda state: real.server_port)
    monkeypatch.setattr(serving, "_POLL_SECONDS", 0)
    # A proxy that answers nothing: this machine must be asked itself.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    yield script
    real.shutdown()
    thread.join()
    real.server_close()


def call(tmp_path: Path, told: list[str], *exports: int, **other: Any) -> Call:
    for version in exports:
        folder = tmp_path / "m" / "export" / str(version)
        folder.mkdir(parents=True)
        (folder / "saved_model.pb").touch()
    inputs = {
        "name": "m",
        "server": "m-server",
        "storage": str(tmp_path),
        "stateDirectory": str(tmp_path),
        "directory": "m",
    }
    return Call(inputs=inputs, announce=told.append, **other)


def test_it_waits_until_the_newest_export_answers(tmp_path: Path, server: Server) -> None:
    old = ("AVAILABLE", "")
    server.answers = [
        None,
        WAITING,
        states(v1=old),
        states(v2=("LOADING", ""), v1=old),
        states(v2=("AVAILABLE", ""), v1=("END", "")),
    ]
    told: list[str] = []
    serving.until_served(call(tmp_path, told, 1, 2))
    assert server.asked == ["/v1/models/m"] * 5
    assert told == []


def test_an_export_that_does_not_load_is_told_and_fails_nothing(
    tmp_path: Path, server: Server
) -> None:
    server.answers = [states(v2=("END", "no such op: Foo"), v1=("AVAILABLE", ""))]
    told: list[str] = []
    serving.until_served(call(tmp_path, told, 1, 2))
    assert told == ["version 2 of the model is exported and not served yet: no such op: Foo"]


def test_a_server_that_never_answers_is_told(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_PATIENCE_SECONDS", 0)
    server.answers = [WAITING]
    told: list[str] = []
    serving.until_served(call(tmp_path, told, 1))
    assert told == [
        "version 1 of the model is exported and not served yet: no answer from m-server in 0 s"
    ]


def test_without_an_export_or_a_server_nothing_is_asked(tmp_path: Path, server: Server) -> None:
    told: list[str] = []
    serving.until_served(call(tmp_path, told))
    unserved = call(tmp_path, told, 1)
    inputs = {key: value for key, value in unserved.inputs.items() if key != "server"}
    serving.until_served(Call(inputs=inputs, announce=told.append))
    assert (server.asked, told) == ([], [])


def test_ctrl_c_ends_the_wait(tmp_path: Path, server: Server) -> None:
    server.answers = [WAITING]
    told: list[str] = []
    looks = iter([False, True])
    serving.until_served(call(tmp_path, told, 1, cancelled=lambda: next(looks)))
    assert len(server.asked) == 1
    assert told == []
