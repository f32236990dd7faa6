"""`<state_directory>/status.json`, what others may know of a job or service. Never a secret.

    name, kind, generation   as in the spec
    state                    Created | Running | Restarting | Suspended | Succeeded | Failed |
                             Stopped (ended on request or by a signal, unfinished)
    reason, message          one word and one sentence about the state; reasons of Failed:
                             ReplicaFailed, CannotStart, BackoffLimitExceeded, DeadlineExceeded,
                             NoProgress, StartTimeout; of Stopped: StopRequested, Terminated
    conditions               [{type, status "True"|"False", reason, message,
                             lastTransitionTime}] as in a TFJob's status
    startTime, completionTime  RFC 3339 in UTC, or null
    supervisorPid, guardianPid
    replicas                 {"worker-0": {state Pending|Running|Succeeded|Failed|Terminated, pid,
                             restarts, exitCode, signal, startedAt, finishedAt}}; null: not (yet)
    firstFailure             {replica, exitCode, signal, finishedAt, log, lines} or null: of the
                             last series of failures, retried ones too, the one that caused the
                             others, and its last 20 log lines then; exitCode null: its process
                             did not start, or never began its work
    ready, healthy           of a service: it may be used; the last look at its URL was good

The file is replaced as a whole. After a kill -9 of the supervisor it still tells the last state:
`supervisor.client.observe` tells whether there is still a supervisor.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .causes import first_failure
from .logs import log_path
from .state import FINISHED, Job

FILE = "status.json"


@dataclass(frozen=True)
class Status:
    """A status as read; the attributes are the file's keys, times as the strings written there."""

    name: str
    kind: str
    generation: str
    state: str
    reason: str
    message: str
    conditions: list[dict[str, Any]]
    start_time: str | None
    completion_time: str | None
    supervisor_pid: int
    guardian_pid: int
    replicas: dict[str, dict[str, Any]]
    first_failure: dict[str, Any] | None
    ready: bool
    healthy: bool

    @property
    def finished(self) -> bool:
        return self.state in FINISHED


def document(
    job: Job, generation: str, state_directory: str, supervisor: int, guardian: int
) -> dict[str, Any]:
    """The content of status.json for a state in memory."""
    first = first_failure(job.failures)
    failure = (
        None
        if first is None
        else {
            "replica": first.replica,
            "exitCode": first.exit_code,
            "signal": first.signal,
            "finishedAt": rfc3339(first.at),
            "log": log_path(state_directory, first.replica),
            "lines": list(first.lines),
        }
    )
    return {
        "name": job.name,
        "kind": job.kind,
        "generation": generation,
        "state": job.state,
        "reason": job.reason,
        "message": job.message,
        "conditions": [
            {
                "type": c.type,
                "status": "True" if c.status else "False",
                "reason": c.reason,
                "message": c.message,
                "lastTransitionTime": rfc3339(c.at),
            }
            for c in job.conditions
        ],
        "startTime": rfc3339(job.start_time),
        "completionTime": rfc3339(job.completion_time),
        "supervisorPid": supervisor,
        "guardianPid": guardian,
        "replicas": {
            name: {
                "state": r.state,
                "pid": r.pid,
                "restarts": r.restarts,
                "exitCode": r.exit_code,
                "signal": r.signal,
                "startedAt": rfc3339(r.started_at),
                "finishedAt": rfc3339(r.finished_at),
            }
            for name, r in job.replicas.items()
        },
        "firstFailure": failure,
        "ready": job.ready,
        "healthy": job.healthy,
    }


def rfc3339(at: float | None) -> str | None:
    """Seconds since 1970 as 2026-11-30T06:00:00.123Z."""
    if at is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"


def write_json(path: str, content: Mapping[str, Any]) -> None:
    """Replaces a file as a whole, readable by its owner only. Raises OSError."""
    aside = f"{path}.{os.getpid()}.new"
    try:
        with open(
            os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            json.dump(content, file, indent=1)
            file.write("\n")
        os.replace(aside, path)
    except OSError:
        if os.path.exists(aside):
            os.unlink(aside)
        raise


def read(state_directory: str) -> Status | None:
    """The status last written, None when there is none or it is no status."""
    try:
        with open(os.path.join(state_directory, FILE), encoding="utf-8") as file:
            found = json.load(file)
        return Status(
            name=found["name"],
            kind=found["kind"],
            generation=found["generation"],
            state=found["state"],
            reason=found["reason"],
            message=found["message"],
            conditions=found["conditions"],
            start_time=found["startTime"],
            completion_time=found["completionTime"],
            supervisor_pid=found["supervisorPid"],
            guardian_pid=found["guardianPid"],
            replicas=found["replicas"],
            first_failure=found["firstFailure"],
            ready=found["ready"],
            healthy=found["healthy"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
