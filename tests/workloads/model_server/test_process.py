"""How the server starts, refuses and stops: its flags, its port, its limits."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workloads.model_server.harness import (
    LOCAL,
    MODEL,
    PATIENCE,
    ROOT,
    Start,
    command,
    eventually,
    free_port,
    up,
)


def test_an_oversized_body_is_refused_and_the_server_lives(start: Start, tmp_path: Path) -> None:
    client = start(tmp_path, "--max_body_mib=1").client
    eventually(lambda: up(client), "the port")
    status, answer = client.call("POST", f"/v1/models/{MODEL}:predict", b" " * (8 * 1024 * 1024))
    assert status == 413
    assert str(8 * 1024 * 1024) in answer["error"]
    assert client.get("/healthz")[0] == 200


def test_what_is_no_request_is_refused_as_json(start: Start, tmp_path: Path) -> None:
    client = start(tmp_path).client
    eventually(lambda: up(client), "the port")
    assert client.get("/elsewhere") == (404, {"error": "Not found: /elsewhere"})
    assert client.call("PUT", "/elsewhere", b"{}") == (404, {"error": "Not found: /elsewhere"})
    assert client.call("TRACE", f"/v1/models/{MODEL}")[0] == 501
    refusals = [
        ({"Content-Length": "many"}, 400),
        ({"Transfer-Encoding": "chunked"}, 411),
        ({"Content-Length": "0", "Content-Encoding": "gzip"}, 415),
    ]
    for headers, expected in refusals:
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
        connection.putrequest("POST", f"/v1/models/{MODEL}:predict")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        assert response.status == expected
        assert list(json.loads(response.read())) == ["error"]
        connection.close()


def test_a_health_check_by_name_is_of_that_model_alone(start: Start, tmp_path: Path) -> None:
    client = start(tmp_path).client
    eventually(lambda: up(client), "the port")
    plain = client.get("/healthz")
    assert plain[0] == 200
    assert client.get(f"/healthz?model={MODEL}") == plain
    assert client.get("/healthz?other=thing") == plain
    for asked in ("other", "", f"{MODEL}2"):
        assert client.get(f"/healthz?model={asked}") == (
            404,
            {"error": f"This is the server of model {MODEL}, not of {asked}"},
        )
    assert client.get(f"/healthz?model={MODEL}&model=other")[0] == 404


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_and_frees_its_port(
    start: Start, saved_models: Path, tmp_path: Path, number: signal.Signals
) -> None:
    running = start(saved_models)
    client = running.client
    eventually(lambda: up(client), "the port")
    # An idle kept-alive connection must not hold the stop up.
    idle = http.client.HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
    idle.request("GET", "/healthz")
    assert idle.getresponse().read()
    running.process.send_signal(number)
    assert running.process.wait(PATIENCE) == 0
    idle.close()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", client.port))


def test_a_request_under_way_is_answered_before_the_stop(start: Start, tmp_path: Path) -> None:
    running = start(tmp_path)
    eventually(lambda: up(running.client), "the port")
    body = b'{"instances": [1.0]}'
    address = ("127.0.0.1", running.client.port)
    with (
        socket.create_connection(address, PATIENCE) as connection,
        connection.makefile("rb") as answers,
    ):
        head = (
            f"POST /v1/models/{MODEL}:predict HTTP/1.1\r\nHost: x\r\n"
            f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
        )
        connection.sendall(head.encode())
        # The server has the request's head now and waits for its body.
        assert answers.readline() == b"HTTP/1.1 100 Continue\r\n"
        assert answers.readline() == b"\r\n"
        running.process.send_signal(signal.SIGTERM)
        eventually(lambda: not accepts(running.client.port), "the port to close")
        assert running.process.poll() is None
        connection.sendall(body)
        assert answers.readline() == b"HTTP/1.1 404 Not Found\r\n"
        rest = answers.read()
    assert b"Connection: close" in rest
    assert f"Latest({MODEL})".encode() in rest
    assert running.process.wait(PATIENCE) == 0


def test_it_listens_on_the_loopback_address_only(start: Start, tmp_path: Path) -> None:
    client = start(tmp_path).client
    eventually(lambda: up(client), "the port")
    with socket.socket() as probe:
        probe.settimeout(PATIENCE)
        with pytest.raises(ConnectionRefusedError):
            probe.connect(("127.0.0.2", client.port))


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        finished = refused(command(LOCAL, tmp_path, port))
    assert f"cannot listen on 127.0.0.1:{port}" in finished


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--model_base_path=/x"], "--rest_api_port"),
        (["--rest_api_port=8501"], "--model_base_path"),
        (["--rest_api_port=0", "--model_base_path=/x"], "1 to 65535"),
        (["--rest_api_port=http", "--model_base_path=/x"], "--rest_api_port"),
        (["--rest_api_port=8501", "--model_base_path=x"], "absolute path"),
        (["--rest_api_port=8501", "--model_base_path=/x", "--model_name=a/b"], "--model_name"),
        (["--rest_api_port=8501", "--model_base_path=/x", "--rest_port=1"], "--rest_port"),
        (
            ["--rest_api_port=8501", "--model_base_path=/x", "--file_system_poll_wait_seconds=-1"],
            "--file_system_poll_wait_seconds",
        ),
        (["--rest_api_port=8501", "--model_base_path=/x", "--max_body_mib=0"], "--max_body_mib"),
        (["--rest_api_port=8501", "--model_base_path=/x", "--host=no.such.invalid"], "no.such"),
    ],
)
def test_flags_that_cannot_work_are_one_line(arguments: list[str], part: str) -> None:
    assert part in refused([*LOCAL, *arguments])


def test_a_missing_tensorflow_is_one_line(tmp_path: Path) -> None:
    hidden = tmp_path / "tensorflow.py"
    hidden.write_text("raise ImportError('not here')\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    line = refused(command(LOCAL, tmp_path, free_port()), environment)
    assert "TensorFlow cannot be imported: not here" in line


def test_tensorflow_is_not_imported_to_answer() -> None:
    program = "import sys, workloads.model_server.server; print('tensorflow' in sys.modules)"
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert finished.stdout == "False\n"


def refused(arguments: list[str], environment: dict[str, str] | None = None) -> str:
    finished = subprocess.run(
        arguments, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    assert finished.returncode == 2
    assert finished.stdout == ""
    (line,) = finished.stderr.splitlines()
    return line


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
