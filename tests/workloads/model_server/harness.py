"""A client of a model server, and how one is started and stopped."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
REAL = shutil.which("tensorflow_model_server")
MODEL = "digits"
AT = f"/v1/models/{MODEL}"
#: Far longer than anything here takes: a hang must fail, a busy machine must not.
PATIENCE = 180.0


@dataclass(frozen=True)
class Client:
    """One server's address; every call is a connection of its own."""

    port: int

    def call(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
        """Status code and decoded JSON body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, Any]:
        return self.call("GET", path)

    def predict(self, document: object, at: str = AT) -> tuple[int, Any]:
        return self.call("POST", f"{at}:predict", json.dumps(document).encode())

    def states(self) -> dict[str, str]:
        """State of every version the status answer names; empty when it names none."""
        try:
            _, answer = self.get(AT)
        except ConnectionRefusedError:
            return {}
        return {
            entry["version"]: entry["state"] for entry in answer.get("model_version_status", [])
        }


@dataclass(frozen=True)
class Running:
    """A started server and the process that is it."""

    client: Client
    process: subprocess.Popen[str]


Start = Callable[..., Running]


def image(value: float) -> list[list[float]]:
    return [[value] * 28] * 28


def ask(signature: str, **request: object) -> dict[str, object]:
    return {"signature_name": signature, **request}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"still waiting for {what}")
        time.sleep(0.05)


def command(program: list[str], base: Path, port: int) -> list[str]:
    """The argv both servers take."""
    return [
        *program,
        f"--port={free_port()}",
        f"--rest_api_port={port}",
        f"--model_name={MODEL}",
        f"--model_base_path={base}",
        "--file_system_poll_wait_seconds=1",
    ]


def launch(arguments: list[str], log: Path) -> subprocess.Popen[str]:
    with log.open("a") as output:
        return subprocess.Popen(
            arguments, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, text=True
        )


def stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def up(client: Client) -> bool:
    try:
        status, _ = client.get("/healthz")
    except ConnectionRefusedError:
        return False
    return status == 200


LOCAL = [sys.executable, "-m", "workloads.model_server"]
SERVERS = {"local": LOCAL} | ({"real": [REAL]} if REAL else {})
