"""Starts, ends and observes the supervisor of a state directory.

All functions may be called from any process and thread, with or without a supervisor there.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import control, status
from .logs import log_path, tail_lines
from .replicas import PASSED_ON
from .spec import Spec
from .state import PENDING, RUNNING, STOPPED, SUSPENDED, TERMINATED
from .status import Status
from .sweep import MARKER, is_marked, kill_all, marked, send, state_directories

START_SECONDS = 30.0
REACTION_SECONDS = 5.0
CONTROL_SECONDS = 60.0
LOST, ABSENT = "Lost", "Absent"


class SupervisorError(Exception):
    """What was asked for did not happen; the text is one sentence for the user."""


@dataclass(frozen=True)
class Observation:
    """What is there: `state` is that of the status, or Lost when the status says unfinished but
    no supervisor is there any more, or Absent when nothing was ever started there. `alive` can be
    true with a finished state: a supervisor stays as long as cleanPodPolicy None leaves it
    replicas, and cleaning up takes a moment.
    """

    state: str
    alive: bool
    status: Status | None


def launch(spec: Spec, secrets: Mapping[str, str], state_directory: Path) -> None:
    """Starts a supervisor for the spec, which outlives the caller and its terminal.

    Afterwards it holds the lock of the directory (made if absent, readable by its owner only) and
    its first status is there. The secrets become environment variables of every replica and are
    in no file and no command line. Raises SupervisorError when one already runs there or when
    none came up within 30 s; then nothing is left running.
    """
    directory = _canonical(state_directory)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        log = os.open(
            control.path(directory, "supervisor.log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600
        )
    except OSError as error:
        raise SupervisorError(f"{directory} cannot be written: {error.strerror}") from None
    environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    command = [
        sys.executable,
        "-I",
        "-S",
        "-X",
        "utf8",
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py"),
        directory,
    ]
    try:
        starter = subprocess.Popen(
            command,
            env=environment | {MARKER: directory},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    except OSError as error:
        raise SupervisorError(f"{command[0]} cannot be executed: {error.strerror}") from None
    finally:
        os.close(log)
    try:
        given = {"spec": spec.to_json(), "secrets": dict(secrets)}
        answer, _ = starter.communicate(json.dumps(given).encode(), START_SECONDS)
        error_text = json.loads(answer).get("error")
    except subprocess.TimeoutExpired:
        error_text = f"the supervisor did not start in {directory} within {START_SECONDS:g} s"
        starter.kill()
        starter.communicate()
        stop(state_directory, 0)
    except ValueError:
        error_text = f"the supervisor did not start in {directory}: see its supervisor.log"
    if error_text is not None:
        raise SupervisorError(error_text)


def alive(state_directory: Path) -> bool:
    """Whether a supervisor, or what cleans up after one, is there."""
    return control.is_locked(_canonical(state_directory))


def supervised() -> set[Path]:
    """The state directories of this user in which something lives, whoever started it. Without
    /proc none is known."""
    return {Path(directory) for directory in state_directories()}


def stop(state_directory: Path, grace_seconds: float = 10) -> None:
    """Ends the supervisor and everything it started; files stay.

    Replicas get SIGTERM and, after the grace, SIGKILL. A supervisor that does not react is killed.
    Does nothing where nothing runs, and never touches a process without the directory's marker.
    Raises SupervisorError when a process cannot be killed.
    """
    directory = _canonical(state_directory)
    if not os.path.isdir(directory):
        return
    pid = _supervisor(directory)
    if control.is_locked(directory) and pid is not None:
        # On a full disk the signal alone must do, with the default grace.
        with contextlib.suppress(OSError):
            control.ask_grace(directory, grace_seconds)
        send(pid, signal.SIGTERM)
        if not _wait(lambda: not control.is_locked(directory), grace_seconds + REACTION_SECONDS):
            send(pid, signal.SIGKILL)
            _wait(lambda: not control.is_locked(directory), REACTION_SECONDS)
    left = kill_all(lambda: marked(directory))
    if left:
        numbers = ", ".join(map(str, sorted(left)))
        raise SupervisorError(f"processes of {directory} cannot be killed: {numbers}")
    control.take_grace(directory)
    _note_stopped(directory)


def read_status(state_directory: Path) -> Status | None:
    """The status last written, None when there is none."""
    return status.read(_canonical(state_directory))


def observe(state_directory: Path) -> Observation:
    """What is there now, by the status and by whether a supervisor lives."""
    directory = _canonical(state_directory)
    locked = control.is_locked(directory)
    found = status.read(directory)
    # One that was started in between wrote its status after the lock was looked at.
    locked = locked or control.is_locked(directory)
    if found is None:
        return Observation(ABSENT, locked, None)
    lost = not found.finished and not locked
    return Observation(LOST if lost else found.state, locked, found)


def tail(state_directory: Path, replica: str, lines: int) -> list[str]:
    """The last lines of a replica's log ("worker-0"), none when it has not written any."""
    return tail_lines(log_path(_canonical(state_directory), replica), lines)


def suspend(state_directory: Path) -> None:
    """Ends all replicas of a running job in place; afterwards it is Suspended (or had finished).

    Raises SupervisorError when no supervisor is there or the replicas do not end within 60 s.
    """
    _set_suspended(state_directory, True)


def resume(state_directory: Path) -> None:
    """Starts a suspended job's replicas anew; afterwards it is no longer Suspended.

    Raises SupervisorError when no supervisor is there or it does not react within 60 s.
    """
    _set_suspended(state_directory, False)


def _set_suspended(state_directory: Path, wanted: bool) -> None:
    directory = _canonical(state_directory)
    try:
        if not control.is_locked(directory):
            found = status.read(directory)
            if found is not None and found.finished:
                return
            raise SupervisorError(f"no supervisor runs in {directory}")
        control.ask_suspend(directory, wanted)
    except OSError as error:
        raise SupervisorError(f"{directory} cannot be written: {error.strerror}") from None

    def obeyed() -> bool:
        found = status.read(directory)
        if found is None or found.finished or not control.is_locked(directory):
            return True
        quiet = not any(replica["state"] == RUNNING for replica in found.replicas.values())
        return (found.state == SUSPENDED and quiet) if wanted else found.state != SUSPENDED

    if not _wait(obeyed, CONTROL_SECONDS):
        raise SupervisorError(
            f"the supervisor in {directory} did not react within {CONTROL_SECONDS:g} s"
        )
    if observe(state_directory).state in (LOST, ABSENT):
        raise SupervisorError(f"the supervisor in {directory} ended")


def _canonical(state_directory: Path) -> str:
    return os.path.realpath(state_directory)


def _supervisor(directory: str) -> int | None:
    pid = control.read_pid(directory)
    return pid if pid is not None and is_marked(pid, directory) else None


def _note_stopped(directory: str) -> None:
    """A supervisor that was killed could not write its own end."""
    try:
        with open(os.path.join(directory, status.FILE), encoding="utf-8") as file:
            content = json.load(file)
        found = status.read(directory)
        if found is None or found.finished:
            return
        content |= {
            "state": STOPPED,
            "reason": "StopRequested",
            "ready": False,
            "healthy": False,
            "message": f"Job {found.name} was stopped.",
            "completionTime": status.rfc3339(time.time()),
        }
        for replica in content["replicas"].values():
            if replica["state"] in (RUNNING, PENDING):
                replica |= {"state": TERMINATED, "pid": None}
        status.write_json(os.path.join(directory, status.FILE), content)
    except (OSError, ValueError):
        return


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
