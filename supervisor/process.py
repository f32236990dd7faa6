"""Starts one replica's process."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from .kernel import die_with_parent

_DEFAULTS = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGQUIT,
    signal.SIGPIPE,
    signal.SIGCHLD,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


class CannotStart(Exception):
    """The process cannot be started; the text says why, to follow the replica's name."""


@dataclass(frozen=True)
class Started:
    """A process in its own session, and the reading end of its output (non-blocking)."""

    pid: int
    output: int


def start(
    command: list[str], environment: Mapping[str, str], working_directory: str, umask: int
) -> Started:
    """Starts a process which dies with the calling one; its stdin is empty.

    Must be called from the main thread of a process without other threads: the kernel ties the
    death signal to the calling thread, and a fork copies no other. Raises CannotStart.
    """
    output, output_end = os.pipe()
    problem, problem_end = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        for end in (output, output_end, problem, problem_end):
            os.close(end)
        raise CannotStart(f"cannot be started: {error.strerror}") from None
    if pid == 0:
        _become(command, environment, working_directory, umask, parent, output_end, problem_end)
    os.close(output_end)
    os.close(problem_end)
    with os.fdopen(problem, "rb") as file:
        text = file.read().decode(errors="replace")
    if text:
        os.close(output)
        os.waitpid(pid, 0)
        raise CannotStart(text)
    os.set_blocking(output, False)
    return Started(pid, output)


def _become(
    command: list[str],
    environment: Mapping[str, str],
    working_directory: str,
    umask: int,
    parent: int,
    output: int,
    problem: int,
) -> NoReturn:
    text = f"cannot execute {command[0]}"
    try:
        signal.set_wakeup_fd(-1)
        os.setsid()
        die_with_parent(signal.SIGKILL)
        if os.getppid() != parent:
            # The supervisor died before the line above: nobody would ever end this process.
            os._exit(1)
        for number in _DEFAULTS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.umask(umask)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        text = f"cannot use the working directory {working_directory}"
        os.chdir(working_directory)
        text = f"cannot execute {command[0]}"
        os.execvpe(command[0], command, environment)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        with contextlib.suppress(OSError):
            os.write(problem, f"{text}: {reason}".encode())
    finally:
        os._exit(127)
