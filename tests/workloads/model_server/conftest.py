"""One set of SavedModels and one running server for the whole of these tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workloads.model_server.harness import (
    LOCAL,
    SERVERS,
    Client,
    Running,
    Start,
    command,
    eventually,
    free_port,
    launch,
    stop,
)


@pytest.fixture(scope="session")
def saved_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What saved_models.py writes; tests copy from it and never change it."""
    directory = tmp_path_factory.mktemp("saved-models")
    script = Path(__file__).with_name("saved_models.py")
    subprocess.run([sys.executable, str(script), str(directory)], check=True)
    return directory


@pytest.fixture(scope="session", params=sorted(SERVERS))
def server(
    request: pytest.FixtureRequest,
    saved_models: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Client]:
    """A server of version 1 beside directories that are no versions; shared, so left as it is."""
    base = tmp_path_factory.mktemp("export")
    shutil.copytree(saved_models / "1", base / "1")
    for other in (".tmp-7", "v8", "9.partial"):
        shutil.copytree(saved_models / "2", base / other)
    client = Client(free_port())
    log = tmp_path_factory.mktemp("log") / "server.log"
    process = launch(command(SERVERS[request.param], base, client.port), log)
    try:
        eventually(lambda: client.states() == {"1": "AVAILABLE"}, "version 1")
        yield client
    finally:
        stop(process)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts local servers of ``base`` and stops them at the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def run(base: Path, *extra: str) -> Running:
        client = Client(free_port())
        process = launch([*command(LOCAL, base, client.port), *extra], tmp_path / "server.log")
        started.append(process)
        return Running(client, process)

    yield run
    for process in started:
        stop(process)
