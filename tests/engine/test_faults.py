"""Killed processes: nothing is left over, and the next `up` finishes the work."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from supervisor import client
from tests.engine.processes import running_under
from tests.engine.test_life import BARE, shell, stack
from tests.engine.workspace import Workspace

COUNTS = 'cd "$ACK_TRAINING_JOB_DIR"; echo started >> starts; while ! [ -e go ]; do sleep 0.1; done'


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.1)


def starts(workspace: Workspace, job: str) -> int:
    path = workspace.path / "data" / job / "starts"
    return len(path.read_text().splitlines()) if path.exists() else 0


def supervisor_of(state: Path) -> int:
    status = client.read_status(state)
    assert status is not None
    return status.supervisor_pid


def kill_the_engine_at_work(workspace: Workspace, job: str) -> None:
    """Afterwards `job` runs, Pulumi has not recorded it, and the stack is not locked."""
    workspace.configure(stack(**{job: shell(COUNTS)}))
    up = workspace.start("up", "--yes", "--skip-preview")
    until(lambda: starts(workspace, job) == 1)
    os.killpg(up.pid, signal.SIGKILL)
    up.communicate(timeout=60)
    cancelled = workspace.pulumi("cancel", "--yes")
    assert cancelled.code == 0, cancelled


def test_a_state_is_written_in_one_step(workspace: Workspace) -> None:
    """What is written beside it in a second step is empty after a kill between the two, and then no
    command can read the state."""
    workspace.configure(stack(done=shell("true")))
    up = workspace.up()
    assert up.code == 0, up
    written = {path.suffix for path in (workspace.path / ".state").rglob("test.json*")}
    assert ".json" in written
    assert ".attrs" not in written


def test_a_killed_supervisor_fails_up_and_the_next_one_resumes(workspace: Workspace) -> None:
    workspace.configure(stack(lost=shell(COUNTS)))
    up = workspace.start("up", "--yes", "--skip-preview")
    until(lambda: starts(workspace, "lost") == 1)
    os.kill(supervisor_of(workspace.state_of("jobs", "lost")), signal.SIGKILL)
    text, _ = up.communicate(timeout=60)
    assert up.returncode != 0
    assert "its supervisor was killed" in text
    until(lambda: running_under(workspace.path) == [])
    (workspace.path / "data/lost/go").touch()
    resumed = workspace.up()
    assert resumed.code == 0, resumed
    assert starts(workspace, "lost") == 2


def test_a_killed_replica_is_started_again(workspace: Workspace) -> None:
    workspace.configure(stack(hurt=shell(COUNTS)))
    up = workspace.start("up", "--yes", "--skip-preview")
    until(lambda: starts(workspace, "hurt") == 1)
    status = client.read_status(workspace.state_of("jobs", "hurt"))
    assert status is not None
    pid = status.replicas["chief-0"]["pid"]
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: starts(workspace, "hurt") == 2)
    (workspace.path / "data/hurt/go").touch()
    text, _ = up.communicate(timeout=60)
    assert up.returncode == 0, text


def test_a_killed_engine_leaves_the_job_running_for_the_next_up(workspace: Workspace) -> None:
    kill_the_engine_at_work(workspace, "orphan")
    assert client.alive(workspace.state_of("jobs", "orphan"))
    (workspace.path / "data/orphan/go").touch()
    again = workspace.up()
    assert again.code == 0, again
    assert starts(workspace, "orphan") == 1


def test_a_job_that_the_engine_never_recorded_is_stopped_by_destroy(workspace: Workspace) -> None:
    kill_the_engine_at_work(workspace, "orphan")
    destroyed = workspace.destroy()
    assert destroyed.code == 0, destroyed
    assert running_under(workspace.path) == []


def test_a_job_that_the_engine_never_recorded_is_stopped_once_undeclared(
    workspace: Workspace,
) -> None:
    kill_the_engine_at_work(workspace, "orphan")
    workspace.configure({**BARE, "jobs": {}})
    without = workspace.up()
    assert without.code == 0, without
    assert "stops orphan, which is no longer declared" in without.text
    assert running_under(workspace.path) == []


def test_an_interrupted_up_keeps_the_job_and_says_so(workspace: Workspace) -> None:
    workspace.configure(stack(patient=shell(COUNTS)))
    up = workspace.start("up", "--yes", "--skip-preview")
    until(lambda: starts(workspace, "patient") == 1)
    os.kill(up.pid, signal.SIGINT)
    text, _ = up.communicate(timeout=60)
    assert up.returncode != 0
    assert "it goes on, and `pulumi up` waits for it again" in text
    (workspace.path / "data/patient/go").touch()
    again = workspace.up()
    assert again.code == 0, again
    assert starts(workspace, "patient") == 1


def test_a_refresh_does_not_end_the_wait_of_an_interrupted_up(workspace: Workspace) -> None:
    workspace.configure(stack(patient=shell(COUNTS)))
    up = workspace.start("up", "--yes", "--skip-preview")
    until(lambda: starts(workspace, "patient") == 1)
    os.kill(up.pid, signal.SIGINT)
    up.communicate(timeout=60)
    refreshed = workspace.refresh()
    assert refreshed.code == 0, refreshed
    preview = workspace.preview()
    assert "it is Running: `pulumi up` waits until it has succeeded" in preview.text
    waiting = workspace.start("up", "--yes", "--skip-preview")
    time.sleep(5)
    assert waiting.poll() is None
    (workspace.path / "data/patient/go").touch()
    text, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, text
    assert starts(workspace, "patient") == 1
    assert workspace.outputs()["jobs"]["patient"]["state"] == "Succeeded"
    again = workspace.up("--expect-no-changes")
    assert again.code == 0, again


def test_a_job_that_ended_before_it_was_suspended_has_succeeded(workspace: Workspace) -> None:
    workspace.configure(stack(quick=shell("exit 0", wait="submitted")))
    first = workspace.up()
    assert first.code == 0, first
    state = workspace.state_of("jobs", "quick")
    until(lambda: client.observe(state).state == "Succeeded" and not client.alive(state))
    workspace.configure(stack(quick=shell("exit 0", wait="submitted", suspend=True)))
    suspended = workspace.up()
    assert suspended.code == 0, suspended
    assert workspace.outputs()["jobs"]["quick"]["state"] == "Succeeded"


def test_a_reboot_is_noticed_and_an_unfinished_job_resumes(workspace: Workspace) -> None:
    workspace.configure(stack(long=shell(COUNTS, wait="running"), short=shell("exit 0")))
    first = workspace.up()
    assert first.code == 0, first
    until(lambda: starts(workspace, "long") == 1)
    os.kill(supervisor_of(workspace.state_of("jobs", "long")), signal.SIGKILL)
    until(lambda: running_under(workspace.path) == [])
    preview = workspace.preview()
    assert "its processes are gone: `pulumi up` starts it again" in preview.text
    second = workspace.up()
    assert second.code == 0, second
    assert "1 updated" in second.text
    until(lambda: starts(workspace, "long") == 2)
