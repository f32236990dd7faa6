"""Versions that appear, break and vanish under a running server, and how it starts and stops."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.workloads.model_server.harness import (
    LOCAL,
    MODEL,
    PATIENCE,
    ROOT,
    Client,
    Start,
    command,
    eventually,
    free_port,
)

REVISION = {"signature_name": "revision", "instances": [0.0]}


def revision(client: Client) -> tuple[int, Any]:
    return client.predict(REVISION)


def publish(saved_models: Path, base: Path, version: int) -> None:
    """What an export does: written aside, then renamed."""
    aside = base / f".tmp-{version}"
    shutil.copytree(saved_models / str(version), aside)
    aside.rename(base / str(version))


def test_it_waits_for_the_first_export(start: Start, saved_models: Path, tmp_path: Path) -> None:
    base = tmp_path / "job" / "export"
    client = start(base).client
    eventually(lambda: up(client), "the port")
    assert client.get("/healthz") == (
        200,
        {"model": MODEL, "version": None, "state": "waiting for first export"},
    )
    assert revision(client) == (
        404,
        {"error": f"Servable not found for request: Latest({MODEL})"},
    )
    assert client.get(f"/v1/models/{MODEL}") == (
        404,
        {"error": f"Could not find any versions of model {MODEL}"},
    )
    base.mkdir(parents=True)
    publish(saved_models, base, 1)
    eventually(lambda: client.states() == {"1": "AVAILABLE"}, "the first version")
    assert revision(client) == (200, {"predictions": [1.0]})
    assert client.get("/healthz") == (
        200,
        {"model": MODEL, "version": "1", "state": "serving version 1"},
    )


def test_no_request_fails_while_a_new_version_takes_over(
    start: Start, saved_models: Path, tmp_path: Path
) -> None:
    base = tmp_path / "export"
    base.mkdir()
    publish(saved_models, base, 1)
    client = start(base).client
    eventually(lambda: client.states() == {"1": "AVAILABLE"}, "version 1")
    answers: list[tuple[int, Any]] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            answers.append(revision(client))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        publish(saved_models, base, 2)
        eventually(lambda: client.states() == {"2": "AVAILABLE", "1": "END"}, "version 2")
        after = len(answers)
        eventually(lambda: len(answers) > after + 20, "answers of version 2")
    finally:
        done.set()
        for thread in threads:
            thread.join(PATIENCE)
    old, new = (200, {"predictions": [1.0]}), (200, {"predictions": [2.0]})
    assert [answer for answer in answers if answer not in (old, new)] == []
    assert old in answers
    assert answers[-1] == new
    assert client.predict(REVISION, f"/v1/models/{MODEL}/versions/1") == (
        404,
        {"error": f"Servable not found for request: Specific({MODEL}, 1)"},
    )


def test_a_broken_version_leaves_the_old_one_serving_until_it_is_whole(
    start: Start, saved_models: Path, tmp_path: Path
) -> None:
    base = tmp_path / "export"
    base.mkdir()
    publish(saved_models, base, 1)
    (base / "2").mkdir()
    shutil.copy(saved_models / "2" / "saved_model.pb", base / "2")
    client = start(base).client
    eventually(lambda: client.states() == {"2": "END", "1": "AVAILABLE"}, "version 1")
    assert revision(client) == (200, {"predictions": [1.0]})
    status, answer = client.get(f"/v1/models/{MODEL}/versions/2")
    assert status == 200
    health = answer["model_version_status"][0]["status"]
    assert health["error_code"] != "OK"
    assert "variables" in health["error_message"]
    # A copy made in place: complete now, so it is tried again.
    shutil.copytree(saved_models / "2" / "variables", base / "2" / "variables")
    eventually(lambda: client.states() == {"2": "AVAILABLE", "1": "END"}, "version 2")
    assert revision(client) == (200, {"predictions": [2.0]})
    # Taken back: the older one serves again.
    shutil.rmtree(base / "2")
    eventually(lambda: client.states() == {"1": "AVAILABLE"}, "version 1 again")
    assert revision(client) == (200, {"predictions": [1.0]})
    shutil.rmtree(base)
    base.mkdir()
    publish(saved_models, base, 2)
    eventually(lambda: client.states().get("2") == "AVAILABLE", "version 2 once more")


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
    assert client.call("PUT", f"/v1/models/{MODEL}", b"{}")[0] == 501
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


def up(client: Client) -> bool:
    try:
        status, _ = client.get("/healthz")
    except ConnectionRefusedError:
        return False
    return status == 200
