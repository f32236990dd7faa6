"""Becomes the supervisor of one state directory, detached from whoever asked for it.

Called as `python -I -S supervisor/__main__.py <state_directory>` with an object of `spec` and
`secrets` as JSON on stdin. Prints `{}` once the supervisor holds the lock and has written a first
status, else `{"error": sentence}`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from . import control
from .guardian import Guardian
from .kernel import adopt_orphans
from .loop import Supervisor
from .spec import Spec, SpecError
from .status import write_json
from .sweep import is_marked, kill_all, marked_replicas

# How long the guardian of a supervisor that just died may clean up before that is an error.
CLEAN_UP_SECONDS = 15.0
# How long a supervisor that was killed may still look alive.
DYING_SECONDS = 1.0


def main(arguments: list[str]) -> int:
    """The exit code of the starting process; the supervisor itself is a child that goes on."""
    state_directory = arguments[1]
    umask = os.umask(0o077)
    try:
        given = json.load(sys.stdin)
        spec = Spec.from_json(given["spec"])
        lock = _lock(state_directory)
        if lock is None:
            return _answer(f"a supervisor already runs in {state_directory}")
        write_json(control.path(state_directory, "spec.json"), spec.to_json())
    except (OSError, ValueError, SpecError) as error:
        return _answer(f"the supervisor cannot start in {state_directory}: {error}")
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        _supervise(spec, given["secrets"], state_directory, lock, umask, writing)
    os.close(writing)
    os.close(lock)
    with os.fdopen(reading, "rb") as file:
        ready = file.read() == b"ready"
    return _answer(
        None
        if ready
        else f"the supervisor ended at once in {state_directory}: see its supervisor.log"
    )


def _answer(error: str | None) -> int:
    print(json.dumps({} if error is None else {"error": error}), flush=True)
    return 0 if error is None else 1


def _lock(state_directory: str) -> int | None:
    began = time.monotonic()
    while (lock := control.try_lock(state_directory)) is None:
        # A dead supervisor's guardian holds the lock only until it has cleaned up.
        pid = control.read_pid(state_directory)
        lives = pid is not None and is_marked(pid, state_directory)
        if time.monotonic() - began > (DYING_SECONDS if lives else CLEAN_UP_SECONDS):
            return None
        time.sleep(0.02)
    return lock


def _supervise(
    spec: Spec, secrets: dict[str, str], state_directory: str, lock: int, umask: int, ready: int
) -> None:
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    os.chdir("/")
    adopt_orphans()
    control.write_pid(lock)
    # Left over when a supervisor and its guardian were both killed.
    kill_all(lambda: marked_replicas(state_directory))
    guardian = Guardian(state_directory, lock)
    guardian.start()
    control.take_grace(state_directory)
    control.ask_suspend(state_directory, spec.run_policy.suspend)
    os.makedirs(os.path.join(state_directory, "logs"), exist_ok=True)
    supervisor = Supervisor(spec, secrets, state_directory, umask, guardian)
    try:
        supervisor.write_status()
    except OSError as error:
        # Without a first status the last run's would be taken for this one's.
        print(f"status.json cannot be written: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(1)
    os.write(ready, b"ready")
    os.close(ready)
    supervisor.run()
    sys.exit(0)
