"""Starting, stopping, suspending and observing real supervisors."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from supervisor import client
from supervisor.client import SupervisorError
from tests.supervisor.conftest import Place, python, shell, wait_until

FOREVER = "exec sleep 1000"
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(1000)
"""


def test_a_second_launch_is_refused_and_changes_nothing(place: Place) -> None:
    place.launch(shell("chief-0", FOREVER))
    pid = place.pid("chief-0")
    before = (place.state / "spec.json").read_text()
    with pytest.raises(SupervisorError, match="a supervisor already runs in"):
        place.launch(shell("worker-0", FOREVER))
    assert (place.state / "spec.json").read_text() == before
    assert place.pid("chief-0") == pid


def test_stop_ends_everything_and_may_be_repeated(place: Place) -> None:
    place.launch(shell("chief-0", FOREVER), shell("worker-0", "sleep 1000 & sleep 1000"))
    place.until("Running")
    client.stop(place.state)
    assert place.processes() == set()
    status = place.status()
    assert (status.state, status.reason) == ("Stopped", "StopRequested")
    assert {replica["state"] for replica in status.replicas.values()} == {"Terminated"}
    client.stop(place.state)
    assert place.status() == status
    assert not client.alive(place.state)


def test_stop_where_nothing_ever_was(tmp_path: Path) -> None:
    client.stop(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    assert client.observe(tmp_path / "none").state == "Absent"
    assert client.read_status(tmp_path / "none") is None
    assert client.tail(tmp_path / "none", "chief-0", 5) == []
    with pytest.raises(SupervisorError, match="no supervisor runs in"):
        client.suspend(tmp_path / "none")


def test_a_replica_that_ignores_the_request_is_killed_after_the_grace(place: Place) -> None:
    place.launch(python("chief-0", STUBBORN))
    place.until_wrote("chief-0", "deaf")
    client.stop(place.state, 0.2)
    chief = place.status().replicas["chief-0"]
    assert (chief["state"], chief["signal"]) == ("Terminated", signal.SIGKILL)


def test_a_replica_may_end_in_its_own_way(place: Place) -> None:
    place.launch(
        shell("chief-0", "trap 'echo saved; exit 143' TERM; echo up; while :; do sleep 0.05; done")
    )
    place.until_wrote("chief-0", "up")
    client.stop(place.state)
    assert client.tail(place.state, "chief-0", 1) == ["saved"]


def test_a_stopped_replica_can_be_ended(place: Place) -> None:
    place.launch(shell("chief-0", FOREVER))
    os.kill(place.pid("chief-0"), signal.SIGSTOP)
    client.stop(place.state)
    assert place.status().replicas["chief-0"]["signal"] == signal.SIGTERM


def test_a_supervisor_that_does_not_react_is_killed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "REACTION_SECONDS", 0.5)
    place.launch(shell("chief-0", "sleep 1000 & sleep 1000"))
    place.until("Running")
    os.kill(place.status().guardian_pid, signal.SIGSTOP)
    os.kill(place.status().supervisor_pid, signal.SIGSTOP)
    client.stop(place.state, 0)
    assert place.processes() == set()
    assert not client.alive(place.state)
    assert place.status().state == "Stopped"


def test_a_terminated_supervisor_ends_its_replicas(place: Place) -> None:
    place.launch(shell("chief-0", FOREVER))
    place.until("Running")
    os.kill(place.status().supervisor_pid, signal.SIGTERM)
    place.until_gone()
    assert (place.status().state, place.status().reason) == ("Stopped", "Terminated")


def test_a_recycled_pid_is_left_alone(place: Place) -> None:
    place.launch(shell("chief-0", "exit 0"))
    place.until_gone()
    with subprocess.Popen(["sleep", "1000"]) as stranger:
        (place.state / "lock").write_text(f"{stranger.pid}\n")
        client.stop(place.state)
        assert stranger.poll() is None
        assert not client.alive(place.state)
        stranger.kill()


def test_suspend_and_resume_in_place(place: Place) -> None:
    place.launch(shell("chief-0", f"echo up; {FOREVER}"), shell("worker-0", "exit 0"))
    place.until("Running")
    wait_until(lambda: place.status().replicas["worker-0"]["state"] == "Succeeded")
    before = place.status()
    client.suspend(place.state)
    status = place.status()
    assert status.state == "Suspended"
    assert {replica["state"] for replica in status.replicas.values()} == {"Pending"}
    assert place.processes() == {before.supervisor_pid, before.guardian_pid}
    client.suspend(place.state)
    client.resume(place.state)
    after = place.until("Running")
    assert after.supervisor_pid == before.supervisor_pid
    assert after.start_time != before.start_time
    conditions = {c["type"]: (c["status"], c["reason"]) for c in after.conditions}
    assert conditions["Suspended"] == ("False", "TFJobResumed")
    assert conditions["Running"] == ("True", "TFJobRunning")


def test_a_suspended_launch_starts_nothing_until_it_is_resumed(place: Place) -> None:
    place.launch(shell("chief-0", "touch ran"), suspend=True)
    assert place.status().state == "Suspended"
    client.suspend(place.state)
    assert not (place.folder / "ran").exists()
    client.resume(place.state)
    place.until_gone()
    assert (place.folder / "ran").exists()
    assert place.status().state == "Succeeded"


def test_a_suspended_job_can_be_stopped(place: Place) -> None:
    place.launch(shell("chief-0", FOREVER), suspend=True)
    client.stop(place.state)
    assert place.status().state == "Stopped"


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    broken = Place(tmp_path)
    broken.state = tmp_path / "file" / "state"
    with pytest.raises(SupervisorError, match="cannot be written: Not a directory"):
        broken.launch(shell("chief-0", "exit 0"))
