"""The rules of a job by example, on the operator itself: the table is the same for both targets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.client import Cluster as Client
from cluster.connection import Connection
from cluster.seen import JobSeen
from cluster.verdict import state_of
from tests.cluster.handle import Cluster
from tests.cluster.play import Played, end_run, look, play, runs, tfjob
from tests.cluster.waiting import until
from tests.supervisor.semantics import CASES, FOREVER, LOCAL_CASES, Case

ALWAYS = next(case for case in LOCAL_CASES if case.name == "Always retries success too")
CRASH_LOOP = next(
    case for case in LOCAL_CASES if case.reason == "NoProgress" and case.backoff_limit is not None
)


@pytest.fixture(scope="module")
def folder(operated: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where replicas note their runs; the operator is there too."""
    if operated.place is None:
        pytest.skip("not in a given cluster: its nodes have other folders")
    return tmp_path_factory.mktemp("semantics")


@pytest.fixture(scope="module")
def space(cluster: Cluster, folder: Path) -> Iterator[str]:
    name = "ack-training-test-semantics"
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Client:
    return Connection(kubeconfig=str(cluster.kubeconfig)).open()


@pytest.fixture(scope="module")
def played(cluster: Cluster, client: Client, space: str, folder: Path) -> dict[str, Played]:
    """All cases, each played to its end, side by side."""
    cases = [*CASES, ALWAYS, CRASH_LOOP]
    stages = [_staged(case, f"case-{n}", space, folder) for n, case in enumerate(cases)]
    cluster.apply(*(tfjob(stage, cluster.busybox) for stage in stages))
    play(client, space, stages)
    return {stage.case.name: stage for stage in stages}


def _staged(case: Case, job: str, namespace: str, folder: Path) -> Played:
    (folder / job).mkdir()
    return Played(case, job, folder / job, JobSeen(job, namespace))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_job_ends_as_the_table_says(case: Case, played: dict[str, Played]) -> None:
    found = played[case.name]
    assert (found.state, found.reason) == (case.state, case.reason), found.seen.conditions
    assert {n: found.restarts(n) for n in case.restarts} == case.restarts
    assert {n: found.replica_state(n) for n in case.replica_states} == case.replica_states
    conditions = {c.type: (c.holds, c.reason) for c in found.seen.conditions}
    # A second failure that the operator sees before it saw the restart sets no time (its pod.go).
    assert found.status.get("completionTime") or conditions["Restarting"][0]
    assert conditions[case.state] == (True, f"TFJob{case.state}")
    assert not conditions.get("Running", (False, ""))[0]


def test_always_restarts_success_too(played: dict[str, Played]) -> None:
    """The kubelet does, after other delays than local's."""
    found = played[ALWAYS.name]
    assert (found.state, found.reason) == (ALWAYS.state, ALWAYS.reason)
    assert found.restarts("worker-0") >= 2


def test_the_operator_lets_a_crash_loop_go_on(played: dict[str, Played]) -> None:
    """Where local ends it. No backoffLimit counts it: each run is in a new pod."""
    found = played[CRASH_LOOP.name]
    assert found.state in ("Restarting", "Running")
    assert found.restarts("worker-0") > CRASH_LOOP.restarts["worker-0"]
    pod = found.seen.pod("worker-0")
    assert pod is not None and pod.main is not None
    assert pod.main.restarts == 0


def test_suspend_forgets_the_past_and_resume_sets_the_start_time(
    cluster: Cluster, client: Client, space: str, folder: Path
) -> None:
    """As in tests/supervisor/test_rules.py."""
    case = Case("suspend", {"chief-0": [FOREVER], "worker-0": [(1, 0)]}, "Succeeded", "Succeeded")
    stage = _staged(case, "suspended", space, folder)

    def states() -> tuple[str, str, str]:
        look(client, space, [stage])
        replicas = (stage.replica_state(name) for name in case.runs)
        return (state_of(stage.seen), *replicas)  # type: ignore[return-value]

    def suspend(value: bool) -> None:
        patch = json.dumps({"spec": {"runPolicy": {"suspend": value}}})
        cluster.kubectl("patch", "tfjob", stage.job, "-n", space, "--type=merge", "-p", patch)

    cluster.apply(tfjob(stage, cluster.busybox))
    until(lambda: states() == ("Running", "Running", "Running"), 180)
    end_run(stage.folder / "worker-0.1", 0)
    until(lambda: states() == ("Running", "Running", "Succeeded"), 180)
    began = stage.status["startTime"]
    suspend(True)
    until(lambda: states() == ("Suspended", "Terminated", "Terminated") and not stage.seen.pods)
    conditions = {c.type: (c.holds, c.reason) for c in stage.seen.conditions}
    assert conditions["Running"] == (False, "TFJobSuspended")
    assert "completionTime" not in stage.status
    suspend(False)
    until(lambda: states() == ("Running", "Running", "Running"), 180)
    assert {name: runs(stage.folder, name) for name in case.runs} == {"chief-0": 2, "worker-0": 2}
    assert stage.status["startTime"] > began
    conditions = {c.type: (c.holds, c.reason) for c in stage.seen.conditions}
    assert conditions["Suspended"] == (False, "TFJobResumed")
    end_run(stage.folder / "chief-0.2", 0)
    until(lambda: states()[0] == "Succeeded", 180)
