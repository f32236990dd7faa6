"""Plays cases of the table of semantics on the operator.

What a case orders by seconds is made explicit: a replica's run ends when it is told to, and only
after the API shows all that happened before. So nothing depends on how long a pod takes to start.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.api_objects import job_seen, pod_seen
from cluster.client import Cluster as Client
from cluster.seen import JobSeen
from cluster.verdict import FINISHED, state_of
from tests.cluster.waiting import until
from tests.supervisor.semantics import Case
from tests.supervisor.simulation import simulate

_PATIENCE_SECONDS = 300.0
"""For the next thing to happen to any job; the kubelet's third restart in place takes 20."""

_SECONDS_OF_DEADLINES = 10
"""Here, for each of the table's: pods need some to start."""

_ROLES = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}

# Each run opens a pipe of its own and ends with the code that comes out of it.
_SCRIPT = """
cd /runs
replica=${HOSTNAME#"$JOB-"}
mkfifo "$replica.$(($(cat "$replica.runs" 2>/dev/null | wc -l) + 1))"
echo run >>"$replica.runs"
read code <"$replica.$(cat "$replica.runs" | wc -l)"
exit "$code"
"""

Reached = Callable[[JobSeen], bool]


@dataclass
class Played:
    """A case on the operator: the last that was seen of it; `status` is the TFJob's own."""

    case: Case
    job: str
    folder: Path
    seen: JobSeen
    status: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> str:
        return state_of(self.seen)

    @property
    def reason(self) -> str:
        """In the words of the table."""
        if self.state != "Failed":
            return self.state
        message = next(c.message for c in self.seen.conditions if c.type == "Failed")
        for told, reason in (
            ("has reached the specified backoff limit", "BackoffLimitExceeded"),
            ("was active longer than specified deadline", "DeadlineExceeded"),
            (r"replica\(s\) failed", "ReplicaFailed"),
        ):
            if re.search(told, message):
                return reason
        return message

    def restarts(self, replica: str) -> int:
        return runs(self.folder, replica) - 1

    def replica_state(self, replica: str) -> str:
        """In the words of the table: the operator deletes the pods that it ends."""
        pod = self.seen.pod(replica)
        return "Terminated" if pod is None or pod.deleting else pod.phase


def runs(folder: Path, replica: str) -> int:
    """How often a replica was started, in the same pod or in another."""
    file = folder / f"{replica}.runs"
    return len(file.read_text().splitlines()) if file.exists() else 0


def tfjob(stage: Played, image: str) -> dict[str, Any]:
    """The TFJob of a case, whose replicas note their runs."""
    case, job = stage.case, stage.job
    policy: dict[str, Any] = {"cleanPodPolicy": case.clean_pod_policy}
    if case.backoff_limit is not None:
        policy["backoffLimit"] = case.backoff_limit
    pod = _pod(job, image, stage.folder)
    if case.active_deadline_seconds is not None:
        seconds = int(case.active_deadline_seconds * _SECONDS_OF_DEADLINES)
        policy["activeDeadlineSeconds"] = pod["activeDeadlineSeconds"] = seconds
    sizes = Counter(name.rpartition("-")[0] for name in case.runs)
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": job, "namespace": stage.seen.namespace},
        "spec": {
            "runPolicy": policy,
            "successPolicy": case.success_policy,
            "tfReplicaSpecs": {
                _ROLES[role]: {
                    "replicas": count,
                    "restartPolicy": case.policy(role),
                    "template": {"spec": pod},
                }
                for role, count in sizes.items()
            },
        },
    }


def _pod(job: str, image: str, folder: Path) -> dict[str, Any]:
    container = {
        "name": "tensorflow",
        "image": image,
        "command": ["sh", "-c", _SCRIPT],
        "env": [{"name": "JOB", "value": job}],
        "volumeMounts": [{"name": "runs", "mountPath": "/runs"}],
    }
    return {
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
        "volumes": [{"name": "runs", "hostPath": {"path": str(folder)}}],
    }


def play(client: Client, namespace: str, stages: Sequence[Played]) -> None:
    """Plays all at once, each to its end or until nothing happens any more."""
    waiting: dict[str, tuple[Played, Generator[Reached, JobSeen], Reached]] = {}
    for stage in stages:
        steps = _steps(stage)
        waiting[stage.job] = (stage, steps, next(steps))
    held: set[str] = set()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while waiting and time.monotonic() < deadline:
        look(client, namespace, stages)
        for job, (stage, steps, reached) in list(waiting.items()):
            if not reached(stage.seen):
                held.discard(job)
            elif job not in held:
                # It has to hold for one more look, so that the operator could have one too.
                held.add(job)
            else:
                held.discard(job)
                deadline = time.monotonic() + _PATIENCE_SECONDS
                try:
                    waiting[job] = (stage, steps, steps.send(stage.seen))
                except StopIteration:
                    del waiting[job]
        time.sleep(0.2)


def _steps(stage: Played) -> Generator[Reached, JobSeen]:
    """Plays one case: yields what has to be seen before it goes on, and is sent what was."""
    started: Counter[str] = Counter()
    seen = stage.seen
    _, events = simulate(stage.case)
    for event in events:
        name = event.replica
        if event.code is None:
            started[name] += 1
            seen = yield _or_over(_runs(stage, name, started[name]))
        else:
            pod = seen.pod(name)
            if state_of(seen) in FINISHED or pod is None or pod.main is None:
                break
            end_run(stage.folder / f"{name}.{started[name]}", event.code)
            seen = yield _or_over(_ended(name, pod.uid, pod.main.restarts))
    yield _settled(stage, started)


def _or_over(reached: Reached) -> Reached:
    return lambda seen: state_of(seen) in FINISHED or reached(seen)


def _runs(stage: Played, name: str, number: int) -> Reached:
    def reached(seen: JobSeen) -> bool:
        pod = seen.pod(name)
        running = pod is not None and not pod.deleting and pod.main and pod.main.running
        return bool(running) and runs(stage.folder, name) == number

    return reached


def _ended(name: str, uid: str, restarts: int) -> Reached:
    def reached(seen: JobSeen) -> bool:
        pod = seen.pod(name)
        if pod is None or pod.deleting or pod.uid != uid or pod.main is None:
            return True
        return pod.main.ended is not None or pod.main.restarts > restarts

    return reached


def _settled(stage: Played, started: Mapping[str, int]) -> Reached:
    """The job is over and what the operator ends is gone; one that goes on for ever has a replica
    that runs once more than it would here."""

    def reached(seen: JobSeen) -> bool:
        if stage.case.reason == "NoProgress":
            return any(_runs(stage, name, count + 1)(seen) for name, count in started.items())
        if state_of(seen) not in FINISHED:
            return False
        kept = [pod for pod in seen.pods if pod.phase in ("Running", "Pending") or pod.deleting]
        return stage.case.clean_pod_policy == "None" or not kept

    return reached


def end_run(pipe: Path, code: int) -> None:
    """Has the run that reads the pipe end with `code`."""

    def told() -> bool:
        try:
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            # The replica says that it runs a moment before it reads.
            if error.errno != errno.ENXIO:
                raise
            return False
        os.write(descriptor, f"{code}\n".encode())
        os.close(descriptor)
        return True

    until(told)


def look(client: Client, namespace: str, stages: Sequence[Played]) -> None:
    """Afterwards each of the stages tells of its job what the API says now."""
    jobs = client.get(f"/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs")["items"]
    pods = client.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    of = {job["metadata"]["name"]: job for job in jobs}
    for stage in stages:
        label = "training.kubeflow.org/job-name"
        own = [p for p in pods if p["metadata"].get("labels", {}).get(label) == stage.job]
        stage.seen = job_seen(of[stage.job], map(pod_seen, own), [])
        stage.status = of[stage.job].get("status") or {}
