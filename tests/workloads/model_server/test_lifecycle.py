"""Versions that appear, break and vanish under a running server."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

from tests.workloads.model_server.harness import MODEL, PATIENCE, Client, Start, eventually, up

REVISION = {"signature_name": "revision", "instances": [0.0]}


def revision(client: Client) -> tuple[int, Any]:
    return client.predict(REVISION)


def publish(saved_models: Path, base: Path, version: int, model: str = "") -> None:
    """What an export does: written aside, then renamed."""
    aside = base / f".tmp-{version}"
    shutil.copytree(saved_models / (model or str(version)), aside)
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
    eventually(lambda: client.states() == {"2": "END", "1": "AVAILABLE"}, "version 1 again")
    assert revision(client) == (200, {"predictions": [1.0]})


def test_it_unloads_when_no_version_is_left_and_loads_the_next(
    start: Start, saved_models: Path, tmp_path: Path
) -> None:
    base = tmp_path / "export"
    base.mkdir()
    publish(saved_models, base, 1)
    client = start(base).client
    eventually(lambda: client.states() == {"1": "AVAILABLE"}, "version 1")
    (base / "1").rename(base / "withdrawn")
    eventually(lambda: client.states() == {"1": "END"}, "version 1 to go")
    assert revision(client) == (404, {"error": f"Servable not found for request: Latest({MODEL})"})
    assert client.get("/healthz") == (
        200,
        {"model": MODEL, "version": None, "state": "waiting for the next export"},
    )
    publish(saved_models, base, 2)
    eventually(lambda: client.states() == {"2": "AVAILABLE", "1": "END"}, "version 2")
    assert revision(client) == (200, {"predictions": [2.0]})


def test_versions_as_text_and_too_large_to_warm_up_are_served(
    start: Start, saved_models: Path, tmp_path: Path
) -> None:
    base = tmp_path / "export"
    base.mkdir()
    publish(saved_models, base, 6, "text")
    client = start(base).client
    eventually(lambda: client.states() == {"6": "AVAILABLE"}, "the model as text")
    assert revision(client) == (200, {"predictions": [2.0]})
    publish(saved_models, base, 7, "huge")
    eventually(lambda: client.states() == {"7": "AVAILABLE", "6": "END"}, "the huge model")
    assert revision(client) == (200, {"predictions": [3.0]})
    (told,) = [line for line in log(tmp_path) if "warmed up" in line]
    assert told.startswith(f"{MODEL} version 7 is served without having been warmed up: ")
    assert "MemoryError" in told


def log(tmp_path: Path) -> list[str]:
    return (tmp_path / "server.log").read_text().splitlines()
