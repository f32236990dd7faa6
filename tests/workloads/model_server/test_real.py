"""The way to a real tensorflow_model_server, with a stand-in for that program."""

import os
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from provider import model_server
from provider.ports import free_ports

PROJECT = Path(__file__).resolve().parents[3]
STAND_IN = """#!{python}
import http.server, sys
port = next(int(a.split("=")[1]) for a in sys.argv if a.startswith("--rest_api_port="))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"the real one")
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def body(port: int, model: str = "m") -> str:
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/v1/models/{model}", timeout=5
        ) as reply:
            return str(reply.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code}"
    except (urllib.error.URLError, ConnectionError):
        return ""


def wait_for(port: int, text: str) -> None:
    limit = time.monotonic() + 60
    while text not in body(port):
        assert time.monotonic() < limit, body(port)
        time.sleep(0.1)


def test_it_answers_until_there_is_an_export_and_then_becomes_the_server(tmp_path: Path) -> None:
    program = tmp_path / "tensorflow_model_server"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "workloads.model_server.real",
            str(program),
            f"--rest_api_port={port}",
            "--model_name=m",
            f"--model_base_path={tmp_path / 'export'}",
        ],
        cwd=PROJECT,
    )
    try:
        wait_for(port, "waiting for first export")
        assert body(port, "other") == "404"
        # No directory, so that reading it fails: told, and waited for like one that is missing.
        (tmp_path / "export").write_text("")
        wait_for(port, "cannot be read: Not a directory")
        (tmp_path / "export").unlink()
        (tmp_path / "export/v1").mkdir(parents=True)
        (tmp_path / "export/1").mkdir()
        (tmp_path / "export/1/saved_model.pb").write_bytes(b"")
        wait_for(port, "the real one")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("present", [True, False])
def test_the_real_program_is_taken_where_it_is_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: bool
) -> None:
    program = tmp_path / "tensorflow_model_server"
    if present:
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    command, health = model_server.chosen(
        ["{model_server}", "--model_name=m"], "http://127.0.0.1:1/healthz", "/v1/models/m"
    )
    assert (str(program) in command) is present
    assert command[-1] == "--model_name=m"
    assert health == f"http://127.0.0.1:1{'/v1/models/m' if present else '/healthz'}"
