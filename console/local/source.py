"""A stack on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from console.choice import NotFoundError
from console.local.log import LocalLog, find
from console.look import JobLook, Look, ReplicaLook, ServiceLook
from supervisor import client
from supervisor.client import Observation
from supervisor.job_progress import read_progress, read_replica_progress

_HEALTH = "data/runs"
"""What is asked for to know whether TensorBoard is well, below the URL of its page."""

_WITH_REASON = ("Failed", "Restarting")


class LocalSource:
    """What lies in the stack's state directory; nothing is there before the first `up`."""

    poll_seconds = 0.5

    def __init__(self, state: Path) -> None:
        self._state = state

    def look(self) -> Look:
        jobs: list[JobLook] = []
        services: list[ServiceLook] = []
        for folder in sorted(path.parent for path in self._state.glob("*/*/status.json")):
            seen = client.observe(folder)
            if seen.status is not None and seen.status.kind == "service":
                services.append(ServiceLook(folder.name, seen.state, _note(seen)))
            else:
                jobs.append(_job(folder, seen))
        return Look(tuple(jobs), tuple(services))

    def log(self, job: str | None, replica: str | None) -> LocalLog:
        return LocalLog(find(self._state, job, replica))

    def tensorboard(self, port: int | None) -> int:
        folder = self._state / "services" / "tensorboard"
        seen = client.observe(folder)
        if seen.status is None or not seen.alive:
            raise NotFoundError("TensorBoard does not run: `pulumi up` starts it")
        if not seen.status.ready:
            raise NotFoundError("TensorBoard is starting: it takes up to a minute")
        url = _url(folder)
        if port is not None and f":{port}/" not in url:
            print("(its port is ack-training:tensorboard.port of the stack)", file=sys.stderr)
        print(url)
        return 0


def _url(folder: Path) -> str:
    """The URL of the page of the TensorBoard whose supervisor's state is in `folder`."""
    try:
        spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
        return str(spec["health"]["url"]).removesuffix(_HEALTH)
    except (OSError, ValueError, KeyError, TypeError):
        raise NotFoundError(
            "TensorBoard's state cannot be read: `pulumi up` writes it anew"
        ) from None


def _job(folder: Path, seen: Observation) -> JobLook:
    lost = seen.state == client.LOST
    replicas = {} if seen.status is None else seen.status.replicas
    return JobLook(
        folder.name,
        seen.state,
        _note(seen),
        tuple(
            ReplicaLook(
                name,
                client.LOST if lost else replica["state"],
                replica["restarts"],
                read_replica_progress(folder / "progress", name),
            )
            for name, replica in replicas.items()
        ),
        read_progress(folder / "progress"),
    )


def _note(seen: Observation) -> str:
    if seen.state == client.LOST:
        return "its supervisor was killed: `pulumi up` starts it again"
    if seen.status is not None and seen.state in _WITH_REASON:
        return seen.status.message.splitlines()[0]
    return ""
