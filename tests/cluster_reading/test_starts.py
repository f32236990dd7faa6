"""How often replicas start, as one sees who looks again and again."""

from cluster.seen import JobSeen
from cluster.starts import Starts
from tests.cluster_reading.objects import Object, event, job, pod, seen


def exits(code: int) -> Object:
    message = f"Pod: training.m-worker-0 exited with code {code}"
    return event("ExitedWithCode", message, type="Normal")


def start(number: int, *events: Object) -> JobSeen:
    """The job with the pod of its worker's start of that number."""
    running = pod(phase="Running", container={"running": True}, metadata={"uid": f"pod-{number}"})
    return seen(job(), running, events=events)


def test_the_first_look_and_the_same_pod_are_no_news() -> None:
    starts = Starts()
    assert starts.look(start(1), 0, 0.0) == []
    assert starts.look(start(1), 0, 1.0) == []


def test_a_new_pod_is_told_with_how_the_one_before_ended() -> None:
    starts = Starts()
    starts.look(start(1), 0, 0.0)
    said = starts.look(start(2, exits(138)), 0, 1.0)
    expected = "worker-0 ended with exit code 138 (it lost another replica) and is started again"
    assert said == [expected]
    assert starts.look(start(3), 0, 2.0) == ["worker-0 is started again"]


def test_a_container_that_starts_again_in_place_is_told_as_well() -> None:
    starts = Starts()
    starts.look(seen(job(), pod(phase="Running", container={"running": True})), 0, 0.0)
    again = {"running": True, "before": {"code": 1}, "restarts": 1}
    said = starts.look(seen(job(), pod(phase="Running", container=again)), 0, 1.0)
    assert said == ["worker-0 ended with exit code 1 and is started again"]


def test_ten_starts_in_vain_are_enough() -> None:
    starts = Starts()
    for number in range(10):
        starts.look(start(number), 7, float(number))
        assert starts.troubles(start(number)) == []
    starts.look(start(10, exits(137)), 7, 10.0)
    (found,) = starts.troubles(start(10, exits(137)))
    assert found.sentence() == (
        "worker-0 was started 10 times in a row and each time ended within 30 s, with exit code "
        "137 (killed by SIGKILL, often out of memory), without a new step"
    )
    assert found.grace_seconds == 0


def test_a_new_step_and_a_long_life_begin_the_count_anew() -> None:
    for step, pause in ((8, 0.0), (7, 31.0)):
        starts = Starts()
        for number in range(9):
            starts.look(start(number), 7, float(number))
        starts.look(start(9), step, 9.0 + pause)
        starts.look(start(10), step, 10.0 + pause)
        assert starts.troubles(start(10)) == []
