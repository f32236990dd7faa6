"""The ways a replica ends other than well, and the exit code of each."""

from __future__ import annotations

PROGRAM_RAISED = 1
"""The program raised, and its traceback is in the log: a restart would fail again."""

BAD_INPUT = 2
"""Bad configuration, bad data, a checkpoint that does not fit, or a training that diverged: a
restart would fail again."""

NOT_ASSEMBLED = 4
"""The cluster did not assemble within the start timeout: a restart would fail again."""

PEER_LOST = 138
"""A peer was lost. Codes from 128 up are the ones restartPolicy ExitCode retries."""

TERMINATED = 143
"""Ended by SIGTERM (128 + 15)."""


class ReplicaError(Exception):
    """An error told to the user in one line; `code` is the exit code of the replica."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


class DataError(ReplicaError):
    """A data file is missing or damaged. Raised by a program's dataset(); the replica exits 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, BAD_INPUT)
