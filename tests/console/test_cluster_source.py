"""Which log of a job on a cluster is meant where none is named."""

from console.cluster.source import _to_be_read
from tests.cluster_reading.objects import job, pod, seen

FAILED = {"Failed": "job m is failing because Worker replica(s) failed."}
ROLES = {"Chief": 1, "Worker": 2}


def test_of_a_failed_job_the_one_that_failed_first() -> None:
    ended = pod("worker-1", phase="Failed", container={"ended": {"code": 1, "second": 20}})
    assert _to_be_read(seen(job(conditions=FAILED, roles=ROLES), ended)) == "worker-1"


def test_of_any_other_job_the_usual_one() -> None:
    running = pod("chief-0", phase="Running", container={"running": True})
    assert _to_be_read(seen(job(conditions={"Running": "runs"}, roles=ROLES), running)) is None


def test_a_pod_that_is_gone_has_no_log() -> None:
    assert _to_be_read(seen(job(conditions=FAILED, roles=ROLES))) is None
