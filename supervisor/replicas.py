"""The live processes of one supervisor: started, listened to, ended, and nothing left of them."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import masking
from .guardian import Guardian
from .logs import ReplicaLog, log_path, since_start, tail_lines
from .process import start
from .spec import Replica, Spec
from .state import Exit
from .sweep import MARKER, REPLICA, children_of, kill_all, marked, send_group

# What a program needs of the surroundings; all else of a replica's environment is in its spec.
PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
CHUNK = 64 * 1024
CHUNKS_AT_ONCE = 16
IDLE_SECONDS = 0.5
LINES_KEPT = 20


@dataclass
class _Live:
    pid: int
    output: int
    heard_at: float = 0.0
    kill_at: float | None = None


class Replicas:
    """Runs replicas by name. All times come from the caller, in seconds."""

    def __init__(
        self,
        spec: Spec,
        secrets: Mapping[str, str],
        state_directory: str,
        umask: int,
        guardian: Guardian,
        selector: selectors.BaseSelector,
        complain: Callable[[str], None],
    ) -> None:
        self._specs: dict[str, Replica] = {replica.name: replica for replica in spec.replicas}
        self._secrets = dict(secrets)
        self._working_directory = spec.working_directory
        self._state_directory = state_directory
        self._umask = umask
        self._guardian = guardian
        self._selector = selector
        hidden = masking.forms(secrets.values())
        self._logs = {
            name: ReplicaLog(log_path(state_directory, name), hidden, complain)
            for name in self._specs
        }
        self._live: dict[str, _Live] = {}

    def __bool__(self) -> bool:
        return bool(self._live)

    def start(self, name: str, attempt: int, now: float) -> int:
        """Starts a replica and returns its pid. Raises CannotStart."""
        replica = self._specs[name]
        environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        environment |= replica.environment | self._secrets
        environment |= {MARKER: self._state_directory, REPLICA: name}
        process = start(replica.command, environment, self._working_directory, self._umask)
        self._guardian.watch(process.pid)
        self._logs[name].separator(now, attempt)
        self._live[name] = _Live(process.pid, process.output, now)
        self._selector.register(process.output, selectors.EVENT_READ, name)
        return process.pid

    def named(self, pid: int) -> str | None:
        """The replica with that process."""
        return next((name for name, live in self._live.items() if live.pid == pid), None)

    def hear(self, name: str, now: float) -> None:
        """Takes what a replica wrote."""
        live = self._live[name]
        live.heard_at = now
        for _ in range(CHUNKS_AT_ONCE):
            try:
                chunk = os.read(live.output, CHUNK)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            if not chunk:
                # Its output is closed, its process may still run.
                self._stop_listening(live)
                return
            self._logs[name].feed(chunk)

    def flush_idle(self, now: float) -> None:
        """Writes incomplete lines to which nothing was added for a while."""
        for name, live in self._live.items():
            if self._logs[name].pending and now - live.heard_at >= IDLE_SECONDS:
                self._logs[name].idle()
                live.heard_at = now

    def end(self, name: str, grace: float, now: float) -> None:
        """Asks a replica to end; calling it again never makes its time longer."""
        live = self._live[name]
        if live.kill_at is None:
            live.kill_at = now + grace
            send_group(live.pid, signal.SIGTERM)
            # One that is stopped could not even hear of it.
            send_group(live.pid, signal.SIGCONT)
        live.kill_at = min(live.kill_at, now + grace)

    def kill_overdue(self, now: float) -> None:
        """Kills the replicas whose grace is over."""
        for live in self._live.values():
            if live.kill_at is not None and now >= live.kill_at:
                send_group(live.pid, signal.SIGKILL)

    def ended(self, name: str, reap: Callable[[int], int], now: float) -> Exit:
        """Clears away everything of a replica whose process ended.

        `reap` takes the process out of the process table and gives its wait status. It is called
        after the rest of its process group was killed, as until then nobody else can have that
        number. Descendants that left the group are found by their environment; those without it,
        orphans by now, are ended with the last replica.
        """
        live = self._live.pop(name)
        send_group(live.pid, signal.SIGKILL)
        alone = not self._live
        spare = {self._guardian.pid, live.pid}

        def leftovers() -> set[int]:
            replaced = self._guardian.replaced
            found: set[int] = set() if replaced else marked(self._state_directory, name)
            return found | children_of(os.getpid()) if alone else found

        kill_all(leftovers, spare, seconds=2.0)
        code = os.waitstatus_to_exitcode(reap(live.pid))
        self._guardian.forget(live.pid)
        self._live[name] = live
        # A pipe holds less than this; only what cannot be killed could go on writing.
        for _ in range(64):
            if live.output >= 0 and self._more(live.output):
                self.hear(name, now)
        del self._live[name]
        self._stop_listening(live)
        self._logs[name].close()
        number = -code if code < 0 else None
        return Exit(128 - code if code < 0 else code, number, lines=self.last_lines(name))

    def last_lines(self, name: str) -> tuple[str, ...]:
        """The last lines of a replica's log, as far as they are written."""
        lines = since_start(tail_lines(log_path(self._state_directory, name), LINES_KEPT))
        return tuple(line[:2000] for line in lines)

    def _more(self, output: int) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            return bool(selector.select(0))

    def _stop_listening(self, live: _Live) -> None:
        if live.output >= 0:
            with contextlib.suppress(KeyError):
                self._selector.unregister(live.output)
            os.close(live.output)
            live.output = -1
