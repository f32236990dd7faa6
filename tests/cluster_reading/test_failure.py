"""Why a job failed, by its pods, its events and their logs."""

from collections.abc import Sequence

import pytest

from cluster.failure import compose
from cluster.seen import PodSeen
from cluster.verdict import judge
from tests.cluster_reading.objects import Object, event, job, pod, seen

FAILED = {"Created": "", "Failed": 'job "m" is failing because "Worker" replica(s) failed.'}


def said(*pods: Object, events: tuple[Object, ...] = (), **of_job: object) -> list[str]:
    """The lines of the failure; each log is one line that names its replica and container."""
    found = seen(job(**{"conditions": FAILED, **of_job}), *pods, events=events)

    def read(one: PodSeen, container: str, previous: bool) -> Sequence[str]:
        return [f"{one.replica} {container}{' before' if previous else ''}"]

    return compose(found, judge(found), read, stack="dev").splitlines()


def failed(replica: str, code: int, second: int = 20, **made: object) -> Object:
    return pod(
        replica, phase="Failed", container={"ended": {"code": code, "second": second}}, **made
    )


def test_the_first_to_fail_is_told_with_its_log_and_the_chiefs() -> None:
    chief = pod("chief-0", phase="Running", container={"running": True})
    found = said(
        chief,
        failed("worker-0", 1, second=25),
        failed("worker-1", 2, second=24),
        roles={"Chief": 1, "Worker": 2},
    )
    assert found == [
        'm Failed: job "m" is failing because "Worker" replica(s) failed.',
        "the first to fail was worker-1, with exit code 2",
        "  worker-1 tensorflow",
        "the last lines of chief-0:",
        "  chief-0 tensorflow",
        "whole log: make logs STACK=dev JOB=m REPLICA=worker-1",
    ]


def test_the_loss_of_another_is_a_consequence() -> None:
    found = said(
        failed("worker-0", 138, second=20), failed("worker-1", 2, second=25), roles={"Worker": 2}
    )
    assert found[1] == "the first to fail was worker-1, with exit code 2"


def test_a_much_later_failure_is_no_cause() -> None:
    found = said(
        failed("worker-0", 138, second=20), failed("worker-1", 2, second=45), roles={"Worker": 2}
    )
    assert (
        found[1] == "the first to fail was worker-0, with exit code 138 (it lost another replica)"
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            pod(
                phase="Failed",
                container={"ended": {"code": 137, "reason": "OOMKilled"}},
                resources={"limits": {"memory": "2Gi"}},
            ),
            "exit code 137 (OOMKilled; memory limit 2Gi)",
        ),
        (
            pod(phase="Failed", container={"ended": {"code": 137, "reason": "OOMKilled"}}),
            "exit code 137 (OOMKilled; it has no memory limit)",
        ),
        (failed("worker-0", 137), "exit code 137 (killed by SIGKILL, often out of memory)"),
        (failed("worker-0", 143), "exit code 143 (killed by SIGTERM)"),
        (failed("worker-0", 255), "exit code 255"),
        (
            pod(
                phase="Failed",
                container={"ended": {"code": 128, "reason": "StartError", "message": "no /x"}},
            ),
            "exit code 128 (StartError: no /x)",
        ),
        (
            failed(
                "worker-0",
                137,
                status={
                    "phase": "Failed",
                    "reason": "Evicted",
                    "message": "The node was low on resource: memory. ",
                    "containerStatuses": [],
                },
            ),
            "no exit code (Evicted: The node was low on resource: memory)",
        ),
        (
            failed(
                "worker-0",
                143,
                status={
                    "phase": "Failed",
                    "conditions": [
                        {
                            "type": "DisruptionTarget",
                            "status": "True",
                            "reason": "PreemptionByScheduler",
                            "message": "default-scheduler: preempting to accommodate a higher "
                            "priority pod",
                        }
                    ],
                },
            ),
            "exit code 143 (PreemptionByScheduler: default-scheduler: preempting to accommodate a "
            "higher priority pod)",
        ),
    ],
)
def test_an_end_is_told_with_its_cause(found: Object, words: str) -> None:
    assert said(found)[1] == f"the first to fail was worker-0, with {words}"


def test_a_container_that_prepares_may_fail_as_well() -> None:
    init = {
        "name": "download",
        "state": {"terminated": {"exitCode": 4, "reason": "Error"}},
        "restartCount": 0,
    }
    broken = pod(phase="Failed")
    broken["status"]["initContainerStatuses"] = [init]
    found = said(broken)
    assert found[1:3] == [
        "the first to fail was worker-0, with exit code 4 of its container download",
        "  worker-0 download",
    ]


def test_of_a_container_that_was_started_again_the_log_before_is_shown() -> None:
    state = {"waiting": ("CrashLoopBackOff", "back-off"), "before": {"code": 3}, "restarts": 2}
    found = said(pod(phase="Running", container=state))
    assert found[1:3] == [
        "the first to fail was worker-0, with exit code 3",
        "  worker-0 tensorflow before",
    ]


def exited(replica: str, code: int, second: int) -> Object:
    message = f"Pod: training.m-{replica} exited with code {code}"
    return event("ExitedWithCode", message, second=second, type="Normal")


def test_of_a_pod_that_was_deleted_the_operator_tells_the_code() -> None:
    events = (exited("worker-1", 138, 10), exited("worker-0", 1, 11), exited("worker-0", 0, 5))
    assert said(events=events, roles={"Worker": 2}) == [
        'm Failed: job "m" is failing because "Worker" replica(s) failed.',
        "the first to fail was worker-0, with exit code 1",
        "  (its log is gone with its pod)",
    ]


def test_a_cause_whose_pod_is_gone_comes_before_a_consequence_that_is_there() -> None:
    found = said(
        failed("worker-1", 138), events=(exited("worker-0", 137, 19),), roles={"Worker": 2}
    )
    assert found[1].startswith("the first to fail was worker-0, with exit code 137")


def test_warnings_are_told_once_and_not_what_stands_above() -> None:
    chief = pod("chief-0", container={"waiting": ("ErrImagePull", "no")})
    found = said(
        chief,
        events=(
            event("BackOff", "Back-off pulling image", "chief-0", second=40),
            event("BackOff", "Back-off pulling image", "chief-0", second=41),
            event("TFJobFailed", "job is failing", second=42),
            event("Error", "Error pod m-worker-0 container tensorflow exitCode: 1", second=42),
            event("Pulled", "pulled", "chief-0", second=42, type="Normal"),
            event("FailedCreateService", "no", second=43),
        ),
        roles={"Chief": 1},
    )
    assert [line for line in found if line.startswith("warning")] == [
        "warning: BackOff: Back-off pulling image",
        "warning: FailedCreateService: no",
    ]


def test_a_failure_without_a_failed_replica_has_the_operators_word() -> None:
    found = said(conditions={"Failed": "Job m has failed because it was active longer than …"})
    assert found == ["m Failed: Job m has failed because it was active longer than …"]
