"""The supervisor's loop: one thread that turns what happens into states and states into deeds."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import children, control, job_progress, rules, services, status
from .causes import PEER_LOST
from .guardian import Guardian
from .health import HealthCheck
from .health_watch import HealthWatch
from .process import CannotStart
from .replicas import Replicas
from .spec import Spec
from .state import PENDING, RUNNING, SUSPENDED, Exit
from .sweep import kill_all, marked_replicas

LOOK_SECONDS = 0.25
# How long the end of a job waits for a full disk to be cleared.
LAST_WRITE_SECONDS = 600.0


class Supervisor:
    """Runs one spec to its end. `run` returns when no process of it is left but the guardian."""

    def __init__(
        self,
        spec: Spec,
        secrets: Mapping[str, str],
        state_directory: str,
        umask: int,
        guardian: Guardian,
    ) -> None:
        self._spec = spec
        self._directory = state_directory
        self._guardian = guardian
        self._selector = selectors.DefaultSelector()
        self._replicas = Replicas(
            spec, secrets, state_directory, umask, guardian, self._selector, self._complain
        )
        # Steps of the system's clock must not end a job; a machine's sleep counts as time.
        self._epoch = time.time() - _uptime()
        self._grace = control.DEFAULT_GRACE_SECONDS
        self._terminated = False
        self._health = HealthWatch(spec.health, self._selector) if spec.health else None
        self._begun: set[int] = set()
        self._written: dict[str, Any] | None = None
        self._complained: set[str] = set()
        self._job = rules.created(spec, self._now())
        self._signals, wakeup = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(wakeup, False)
        self._selector.register(self._signals, selectors.EVENT_READ)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_sigterm)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in (
            signal.SIGHUP,
            signal.SIGINT,
            signal.SIGQUIT,
            signal.SIGUSR1,
            signal.SIGUSR2,
        ):
            signal.signal(number, signal.SIG_IGN)

    def write_status(self) -> None:
        """Writes status.json when it would differ from what is there. Raises OSError."""
        if self._guardian.homeless:
            return
        content = status.document(
            self._job, self._spec.generation, self._directory, os.getpid(), self._guardian.pid
        )
        if content != self._written:
            status.write_json(os.path.join(self._directory, status.FILE), content)
            self._written = content

    def run(self) -> None:
        """Returns when the job is over and no process of it is left."""
        while not (self._job.finished and not self._replicas):
            self._obey()
            self._tick()
            self._start_due()
            for name, replica in self._job.replicas.items():
                if replica.stopping and replica.state == RUNNING:
                    self._replicas.end(name, self._grace, self._now())
            self._replicas.kill_overdue(self._now())
            self._try_to_write_status()
            self._wait()
            self._reap()
        if not self._guardian.replaced:
            kill_all(lambda: marked_replicas(self._directory))
        # What is not written now is never told: others would take this end for a kill.
        deadline = time.monotonic() + LAST_WRITE_SECONDS
        while not self._try_to_write_status() and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)

    def _try_to_write_status(self) -> bool:
        try:
            self.write_status()
        except OSError as error:
            self._complain(f"status.json cannot be written: {error.strerror}")
            return False
        return True

    def _now(self) -> float:
        return self._epoch + _uptime()

    def _on_sigterm(self, number: int, frame: object) -> None:
        self._terminated = True

    def _complain(self, text: str) -> None:
        if text not in self._complained:
            self._complained.add(text)
            with contextlib.suppress(OSError):
                print(text, file=sys.stderr, flush=True)

    def _obey(self) -> None:
        if self._guardian.homeless:
            # A second supervisor may be started any time, and two must not run the same job.
            self._job = rules.stopped(self._job, "Terminated", self._now())
            return
        asked = control.take_grace(self._directory)
        if asked is not None or self._terminated:
            self._terminated = False
            self._grace = control.DEFAULT_GRACE_SECONDS if asked is None else asked
            reason = "Terminated" if asked is None else "StopRequested"
            self._job = rules.stopped(self._job, reason, self._now())
        elif control.suspend_wanted(self._directory):
            self._job = rules.suspended(self._job, self._now())
        else:
            self._job = rules.resumed(self._job, self._now())

    def _tick(self) -> None:
        now = self._now()
        self._replicas.flush_idle(now)
        if self._spec.kind == "service":
            self._look_at_health(now)
            self._job = services.ticked(self._job, self._spec, now)
            if services.start_is_overdue(self._job, self._spec, now):
                lines = self._replicas.last_lines(self._spec.replicas[0].name)
                self._job = services.not_started(self._job, self._spec, now, lines)
            return
        self._job = rules.ticked(self._job, self._spec, now)
        self._look_at_start(now)

    def _start_due(self) -> None:
        for name in self._job.startable(self._now()):
            if self._job.finished:
                return
            now = self._now()
            try:
                pid = self._replicas.start(name, self._job.replicas[name].restarts + 1, now)
            except CannotStart as error:
                self._job = rules.not_started(
                    self._job,
                    self._spec,
                    name,
                    "CannotStart",
                    f"{name} {error}",
                    (str(error),),
                    now,
                )
                return
            if self._spec.kind == "service":
                self._job = services.started(self._job, self._spec, name, pid, now)
            else:
                self._job = rules.started(self._job, name, pid, now)

    def _wait(self) -> None:
        now = self._now()
        pending = [r.due_at - now for r in self._job.replicas.values() if r.state == PENDING]
        timeout = min([LOOK_SECONDS, *(wait for wait in pending if wait > 0)])
        for key, _ in self._selector.select(timeout):
            if key.fd == self._signals:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._signals, 4096)
            elif isinstance(key.data, HealthCheck):
                if self._health is not None:
                    self._health.go_on(key.data)
            else:
                self._replicas.hear(key.data, self._now())

    def _reap(self) -> None:
        ends: list[tuple[str, Exit]] = []
        while (pid := children.next_dead()) is not None:
            name = self._replicas.named(pid)
            if name is not None:
                ends.append((name, self._replicas.ended(name, children.reap, self._now())))
                continue
            children.reap(pid)
            if pid == self._guardian.pid:
                self._guardian.start()
        # Of what ended at the same time, the loss of a peer is the consequence.
        for name, end in sorted(ends, key=lambda item: item[1].code == PEER_LOST):
            self._exited(name, end)

    def _exited(self, name: str, end: Exit) -> None:
        if self._spec.kind == "service":
            self._job = services.exited(self._job, self._spec, name, end, self._now())
            if self._health is not None:
                self._health.look_soon()
            return
        directory = self._spec.progress_directory
        step = None if directory is None else job_progress.highest_step(Path(directory))
        self._job = rules.exited(
            self._job, self._spec, name, replace(end, progress=step), self._now()
        )

    def _look_at_start(self, now: float) -> None:
        """Fails the job whose deciding replica says that it starts, for longer than it may."""
        name = rules.decider(self._job)
        directory, limit = self._spec.progress_directory, self._spec.start_timeout_seconds
        if name is None or directory is None or limit is None or self._job.finished:
            return
        replica = self._job.replicas[name]
        since = replica.started_at
        if replica.state != RUNNING or replica.stopping or replica.pid in self._begun:
            return
        if since is None or now - since < limit or replica.pid is None:
            return
        if not job_progress.hangs_in_start(Path(directory), name, since):
            self._begun = {replica.pid}
            return
        self._job = rules.not_started(
            self._job,
            self._spec,
            name,
            "StartTimeout",
            f"{name} did not begin to train within {limit:g} s of its start",
            self._replicas.last_lines(name),
            now,
        )

    def _look_at_health(self, now: float) -> None:
        job = self._job
        if self._health is None or job.finished or job.state == SUSPENDED:
            return
        running = bool(job.running())
        healthy = self._health.look(now, running)
        if healthy is not None:
            self._job = services.checked(job, healthy and running, now)


def _uptime() -> float:
    boot_clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_clock is None else time.clock_gettime(boot_clock)
