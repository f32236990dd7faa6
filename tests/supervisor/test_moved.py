"""A supervisor whose state directory was moved or deleted cannot be controlled: it ends."""

from __future__ import annotations

import os
import shutil

from supervisor import client
from supervisor.sweep import marked
from tests.supervisor.conftest import Place, shell, wait_until


def test_what_runs_ends_when_its_state_directory_is_moved(place: Place) -> None:
    place.launch(shell("worker-0", "sleep 1000", "Always"))
    place.pid("worker-0")
    before = os.path.realpath(place.state)
    moved = place.folder / "elsewhere"
    place.state.rename(moved)
    wait_until(lambda: not client.alive(moved), "the end of the supervisor")
    assert client.observe(moved).state == client.LOST
    assert marked(before) == set()
    place.state = moved
    place.launch(shell("worker-0", "sleep 1000"))
    place.until("Running")
    assert place.pid("worker-0")


def test_a_deleted_state_directory_does_not_let_a_job_run_twice(place: Place) -> None:
    script = 'trap "sleep 1; exit 143" TERM; echo up; while :; do sleep 0.05; done'
    place.launch(shell("worker-0", script, "Always"))
    place.until_wrote("worker-0", "up")
    first = {place.pid("worker-0"), place.status().supervisor_pid, place.status().guardian_pid}
    trash = place.folder / "trash"
    place.state.rename(trash)
    shutil.rmtree(trash)
    place.launch(shell("worker-0", script, "Never"))
    place.until_wrote("worker-0", "up")
    wait_until(lambda: not first & place.processes(), "the end of the first supervisor")
    assert place.status().state == "Running"
    second = {place.pid("worker-0"), place.status().supervisor_pid, place.status().guardian_pid}
    assert second <= place.processes()
