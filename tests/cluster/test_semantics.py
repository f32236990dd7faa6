"""The rules of a job by example, on the operator itself: the table is the same for both targets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.connection import Connection
from cluster.seen import JobSeen
from tests.cluster.handle import Cluster
from tests.cluster.play import Played, play, tfjob
from tests.cluster.training_operator import ensure_operator
from tests.supervisor.semantics import CASES, LOCAL_CASES, Case

ALL = [*CASES, *LOCAL_CASES]


@pytest.fixture(scope="module")
def namespace(cluster: Cluster) -> Iterator[str]:
    name = "ack-training-test-semantics"
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def played(
    cluster: Cluster, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Played]:
    """All cases, each played to its end, side by side."""
    if cluster.place is None:
        pytest.skip("not in a given cluster: its nodes have other folders")
    folder = tmp_path_factory.mktemp("semantics")
    ensure_operator(cluster, folder)
    stages = []
    for number, case in enumerate(ALL):
        job = f"case-{number}"
        (folder / job).mkdir()
        stages.append(Played(case, job, folder / job, JobSeen(job, namespace)))
    cluster.apply(*(tfjob(s.case, s.job, namespace, cluster.busybox, s.folder) for s in stages))
    play(Connection(kubeconfig=str(cluster.kubeconfig)).open(), namespace, stages)
    return {stage.case.name: stage for stage in stages}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_job_ends_as_the_table_says(case: Case, played: dict[str, Played]) -> None:
    found = played[case.name]
    assert (found.state, found.reason) == (case.state, case.reason), found.seen.conditions
    assert {n: found.restarts(n) for n in case.restarts} == case.restarts
    assert {n: found.replica_state(n) for n in case.replica_states} == case.replica_states
    assert found.status["completionTime"]
    conditions = {c.type: (c.holds, c.reason) for c in found.seen.conditions}
    assert conditions[case.state] == (True, f"TFJob{case.state}")
    assert not conditions.get("Running", (False, ""))[0]
