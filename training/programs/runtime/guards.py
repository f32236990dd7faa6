"""Ends a replica in time and with the right exit code, whatever TensorFlow is waiting for."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from runtime.cluster import Replica
from runtime.errors import NOT_ASSEMBLED, PEER_LOST, ReplicaError

PROCESS_STARTED = time.monotonic()


def end_process(code: int, message: str = "") -> NoReturn:
    """Ends the process at once: threads of TensorFlow's servers would hold up a normal exit."""
    if message:
        print(message, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def end_on_signals() -> None:
    """SIGTERM ends this process with 143 and SIGINT with 130, also while TensorFlow computes.

    Python runs signal handlers in the main thread, between two bytecodes, which may be minutes
    away; a thread that reads the wakeup descriptor is told at once. Call it again after a
    MultiWorkerMirroredStrategy was made: TensorFlow then takes SIGTERM for itself.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    previous = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if previous >= 0:
        os.close(previous)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end_on_signal)
    threading.Thread(target=_watch_signals, args=(reading,), daemon=True).start()


def _end_on_signal(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def _watch_signals(reading: int) -> None:
    while numbers := os.read(reading, 16):
        for number in numbers:
            if number in (signal.SIGTERM, signal.SIGINT):
                os._exit(128 + number)


class StartDeadline:
    """The start timeout, counted from the start of this process."""

    def __init__(self, timeout_seconds: float) -> None:
        self.timeout_seconds = timeout_seconds
        self._ends = PROCESS_STARTED + timeout_seconds

    @property
    def remaining_seconds(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self._ends

    def missed(self, missing: Sequence[Replica]) -> ReplicaError:
        """The error for `missing` replicas that did not come up in time."""
        names = ", ".join(str(replica) for replica in missing)
        return ReplicaError(
            f"the cluster did not assemble within {self.timeout_seconds:g} s:"
            f" {names} did not come up",
            NOT_ASSEMBLED,
        )


def answers(replica: Replica, timeout_seconds: float = 1.0) -> bool:
    """Whether the replica's port takes connections."""
    try:
        socket.create_connection(replica.host_port, timeout=timeout_seconds).close()
    except OSError:
        return False
    return True


def wait_for_peers(
    peers: Sequence[Replica], deadline: StartDeadline, while_waiting: Callable[[], None]
) -> None:
    """Returns once each peer's port took a connection; raises ReplicaError past the deadline.

    TensorFlow itself would wait for a missing peer without limit and without a word.
    """
    missing = list(peers)
    while missing := [peer for peer in missing if not answers(peer)]:
        if deadline.passed:
            raise deadline.missed(missing)
        while_waiting()
        time.sleep(0.2)


def wait_until_gone(peers: Sequence[Replica], seconds: float) -> None:
    """Returns once no peer's port takes connections any more, or after `seconds`."""
    ends = time.monotonic() + seconds
    while any(answers(peer) for peer in peers) and time.monotonic() < ends:
        time.sleep(0.1)


def wait_for_own_port(replica: Replica, deadline: StartDeadline) -> None:
    """Returns once this replica's port is free, which it may not be right after a restart."""
    while not _is_free(replica.host_port[1]):
        if deadline.passed:
            raise ReplicaError(
                f"port {replica.host_port[1]} of {replica} is taken by another process",
                NOT_ASSEMBLED,
            )
        time.sleep(0.2)


def bind_everywhere(port: int) -> socket.socket:
    """A socket at `port` of every address of this machine, be it IPv4 or IPv6, as TensorFlow's
    servers have. Raises OSError if the port is taken on one of them."""
    dual = socket.has_dualstack_ipv6()
    bound = socket.socket(socket.AF_INET6 if dual else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if dual:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        bound.bind(("", port))
    except OSError:
        bound.close()
        raise
    return bound


def _is_free(port: int) -> bool:
    try:
        bind_everywhere(port).close()
    except OSError:
        return False
    return True


def describe_loss(peers: Sequence[Replica], detail: str) -> str:
    """One line that names the peers which were lost, as far as that can be known.

    A lost peer may already be back, started again by what supervises it: then TensorFlow's own
    message `detail` is searched for a task's name.
    """
    lost = {str(peer) for peer in peers if not answers(peer)}
    if not lost:
        tasks = set(re.findall(r"/job:(\w+)/(?:replica:\d+/)?task:(\d+)", detail))
        lost = {str(peer) for peer in peers if (peer.role, str(peer.index)) in tasks}
    return f"lost {', '.join(sorted(lost))}" if lost else "lost a peer"


class IdleGuard:
    """Ends the process with 138 when, while steps are awaited, none finished for too long.

    A parameter-server job whose workers are all gone waits without limit and without a word.
    """

    def __init__(self, timeout_seconds: float, peers: Sequence[Replica]) -> None:
        self._timeout_seconds = timeout_seconds
        self._peers = peers
        self._last: float | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def beat(self) -> None:
        """Says that a step finished."""
        self._last = time.monotonic()

    @contextmanager
    def awaiting_steps(self) -> Iterator[None]:
        """Only inside the block is time counted."""
        self.beat()
        try:
            yield
        finally:
            self._last = None

    def _watch(self) -> None:
        while (last := self._last) is None or time.monotonic() - last < self._timeout_seconds:
            time.sleep(min(1.0, self._timeout_seconds / 10))
        silent = [str(peer) for peer in self._peers if not answers(peer)]
        blamed = f"; {', '.join(silent)} did not answer" if silent else ""
        end_process(
            PEER_LOST,
            f"no step finished for {self._timeout_seconds:g} s{blamed}"
            " (raise --idle-timeout if one step may take longer)",
        )


_WATCH_STRATEGY = """
import os, select, signal, sys
seconds, parent = float(sys.argv[1]), int(sys.argv[2])
ended, _, _ = select.select([sys.stdin], [], [], seconds)
if not ended and os.getppid() == parent:
    print(sys.argv[3], file=sys.stderr, flush=True)
    os.kill(parent, signal.SIGALRM)
"""


@contextmanager
def limit_native_wait(seconds: float, message: str) -> Iterator[None]:
    """Ends the process by SIGALRM (142) if the block takes longer, after saying `message`.

    For calls that hold the interpreter's lock while they wait, so that no thread of this process
    could run: the watch is kept by a small process beside it.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    arguments = [str(seconds), str(os.getpid()), message]
    watch = subprocess.Popen(
        [sys.executable, "-S", "-c", _WATCH_STRATEGY, *arguments], stdin=subprocess.PIPE
    )
    try:
        yield
    finally:
        watch.communicate()
