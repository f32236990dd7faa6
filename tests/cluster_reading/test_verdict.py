"""How far a job is, by its conditions and pods."""

import pytest

from cluster.seen import JobSeen
from cluster.troubles import Trouble, told
from cluster.verdict import Patience, all_started, judge, pod_state, replicas_in_words
from tests.cluster_reading.objects import Object, event, job, pod, seen


def conditions(*kinds: str) -> Object:
    return job(conditions={kind: f"the job is {kind}" for kind in kinds})


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        (("Created",), "Created"),
        (("Created", "Running"), "Running"),
        (("Created", "Restarting"), "Restarting"),
        (("Created", "Suspended"), "Suspended"),
        (("Created", "Succeeded"), "Succeeded"),
        (("Created", "Failed"), "Failed"),
        # The chief succeeded, and in the same look a worker was found to have failed.
        (("Created", "Succeeded", "Failed"), "Succeeded"),
    ],
)
def test_the_state_is_that_of_the_heaviest_condition(kinds: tuple[str, ...], state: str) -> None:
    verdict = judge(seen(conditions(*kinds)))
    assert (verdict.state, verdict.message) == (state, f"the job is {state}")


def test_a_condition_that_no_longer_holds_does_not_count() -> None:
    found = conditions("Created", "Running", "Suspended")
    found["status"]["conditions"][2]["status"] = "False"
    assert judge(seen(found)).state == "Running"


def test_a_job_without_conditions_is_created() -> None:
    assert judge(seen(job(conditions={}))).state == "Created"


def test_no_tfjob_and_one_that_is_being_deleted_are_absent() -> None:
    assert judge(JobSeen("m", "training")).state == "Absent"
    deleted = job(metadata={"deletionTimestamp": "2026-11-30T16:53:00Z"})
    assert judge(seen(deleted)).state == "Absent"


@pytest.mark.parametrize("kind", ["Succeeded", "Failed"])
def test_a_finished_job_has_no_troubles(kind: str) -> None:
    waiting = pod(unscheduled="0/1 nodes are available: 1 Insufficient cpu.")
    assert judge(seen(conditions(kind), waiting)).troubles == ()


def test_a_suspended_job_has_no_troubles_of_pods() -> None:
    found = conditions("Suspended")
    found["spec"]["runPolicy"]["suspend"] = True
    waiting = pod(unscheduled="0/1 nodes are available: 1 Insufficient cpu.")
    assert judge(seen(found, waiting)).troubles == ()


def test_all_have_started_once_each_had_a_process() -> None:
    declared = job(roles={"Chief": 1, "Worker": 1})
    running = pod("chief-0", phase="Running", container={"running": True})
    assert not all_started(seen(declared, running))
    assert not all_started(seen(declared, running, pod("worker-0")))
    done = pod("worker-0", phase="Succeeded", container={"ended": {"code": 0}})
    assert all_started(seen(declared, running, done))
    restarting = pod("worker-0", phase="Running", container={"restarts": 1})
    assert all_started(seen(declared, running, restarting))


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (pod(unscheduled="no"), "Unschedulable"),
        (pod(), "ContainerCreating"),
        (pod(container={"waiting": ("ErrImagePull", "no")}), "ErrImagePull"),
        (pod(phase="Running", container={"running": True}), "Running"),
        (pod(phase="Succeeded", container={"ended": {"code": 0}}), "Succeeded"),
        (pod(phase="Failed", container={"ended": {"code": 1}}), "Error"),
        (pod(phase="Failed", status={"reason": "Evicted"}), "Evicted"),
        (pod(metadata={"deletionTimestamp": "2026-11-30T16:53:00Z"}), "Terminating"),
    ],
)
def test_a_pods_state_is_one_word(found: Object, word: str) -> None:
    assert pod_state(seen(job(), found).pods[0]) == word


def test_replicas_are_told_in_order_and_not_all_of_many() -> None:
    chief = pod("chief-0", phase="Running", container={"running": True})
    few = seen(job(roles={"Worker": 2, "Chief": 1}), pod("worker-1"), chief)
    assert (
        replicas_in_words(few)
        == "chief-0 Running, worker-0 not created, worker-1 ContainerCreating"
    )
    many = seen(job(roles={"Worker": 30}))
    assert replicas_in_words(many).endswith("worker-11 not created, and 18 more")


def test_the_pod_that_stays_is_the_replicas() -> None:
    old = pod(metadata={"uid": "old", "deletionTimestamp": "2026-11-30T16:53:00Z"})
    found = seen(job(), old, pod()).pod("worker-0")
    assert found is not None
    assert not found.deleting


def test_events_of_a_namesake_are_not_the_jobs() -> None:
    other = event("FailedCreatePod", "no") | {"involvedObject": {"kind": "TFJob", "uid": "other"}}
    assert seen(job(), events=(other,)).events == ()


def trouble(grace: float | None, about: str = "worker-0", kind: str = "image") -> Trouble:
    return Trouble(kind, about, "cannot have its image", grace)


def test_patience_counts_from_the_first_look() -> None:
    patience, troubles = Patience(), [trouble(10.0)]
    patience.look(troubles, 100.0)
    assert patience.exhausted(troubles, 100.0) == []
    patience.look(troubles, 110.0)
    assert patience.exhausted(troubles, 110.0) == troubles


def test_patience_starts_anew_when_the_trouble_was_over() -> None:
    patience, troubles = Patience(), [trouble(10.0)]
    patience.look(troubles, 100.0)
    patience.look([], 105.0)
    patience.look(troubles, 110.0)
    assert patience.exhausted(troubles, 110.0) == []


def test_patience_never_ends_where_nobody_can_tell() -> None:
    patience, troubles = Patience(), [trouble(None)]
    patience.look(troubles, 0.0)
    patience.look(troubles, 1e6)
    assert patience.exhausted(troubles, 1e6) == []
    assert patience.lasting(troubles, 1e6) == troubles


def test_what_is_forgiven_has_its_grace_again() -> None:
    patience, troubles = Patience(), [trouble(10.0)]
    patience.look(troubles, 0.0)
    patience.forgive(troubles)
    patience.look(troubles, 10.0)
    assert patience.exhausted(troubles, 10.0) == []


def test_what_lasts_a_moment_is_not_worth_a_word() -> None:
    patience, troubles = Patience(), [trouble(10.0)]
    patience.look(troubles, 0.0)
    assert patience.lasting(troubles, 0.0) == []


def test_the_same_trouble_of_several_is_told_once() -> None:
    assert told([trouble(1.0)]) == "worker-0 cannot have its image"
    two = [trouble(1.0), trouble(1.0, "worker-1"), trouble(1.0, "worker-2", kind="place")]
    assert told(two) == "worker-0 cannot have its image (and 1 more replica likewise)"
    three = [trouble(1.0), trouble(1.0, "worker-1"), trouble(1.0, "worker-2")]
    assert told(three) == "worker-0 cannot have its image (and 2 more replicas likewise)"


def test_what_ends_first_comes_first() -> None:
    crash = {"waiting": ("CrashLoopBackOff", "back-off"), "before": {"code": 1}, "restarts": 1}
    found = seen(
        job(roles={"Worker": 2}),
        pod("worker-0", phase="Running", container=crash),
        pod("worker-1", unscheduled="0/1 nodes are available: 1 Insufficient cpu."),
    )
    assert [one.kind for one in judge(found).troubles] == ["place", "crash"]
