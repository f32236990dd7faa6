"""What the table shows of a cluster's objects."""

from typing import Any

from cluster.seen import PodSeen
from console.choice import TO_BE_MADE
from console.cluster.declared import Declared, TensorBoardDeclared
from console.cluster.look import Listed, job_look, jobs_seen
from console.cluster.services import pods_of, ready_pod, service_look, why_not_ready
from console.look import JobLook, ServiceLook
from supervisor.job_progress import JobProgress
from tests.cluster_reading.objects import container, event, job, pod

OWN = {"ack-training/stack": "organization.ack-training.dev"}


def declared(*names: str) -> Declared:
    return Declared(
        kubeconfig="k",
        context="dev",
        namespace="training",
        jobs={name: ("worker-0",) for name in names},
        brings_operator=True,
        operator_namespace="kubeflow",
        tensorboard=TensorBoardDeclared(6006, "/"),
        label="ack-training.dev",
    )


def progress(step: int, steps: int, phase: str = "training") -> JobProgress:
    return JobProgress(phase, step, steps, 0, 0.5, None, None, None, 0.0)


def looks(listed: Listed, *names: str, told: dict[str, JobProgress] | None = None) -> list[JobLook]:
    own = declared(*names)

    def progress_of(found: PodSeen) -> JobProgress | None:
        return (told or {}).get(found.replica)

    return [job_look(own, seen, progress_of) for seen in jobs_seen(own, listed)]


def running(replica: str = "worker-0", **made: Any) -> dict[str, Any]:
    return pod(replica, phase="Running", container={"running": True, **made})


def test_every_replica_has_a_row_in_its_order() -> None:
    listed = Listed(
        [job(roles={"Worker": 2, "Chief": 1}, conditions={"Running": "m is running."})],
        [running("worker-1"), running("chief-0", restarts=2)],
    )
    (found,) = looks(listed, "m", told={"chief-0": progress(5, 10)})
    assert (found.name, found.state, found.note) == ("m", "Running", "")
    rows = [(each.name, each.state, each.node, each.restarts) for each in found.replicas]
    assert rows == [
        ("chief-0", "Running", "n1", 2),
        ("worker-0", "not created", "", 0),
        ("worker-1", "Running", "n1", 0),
    ]
    assert found.progress == progress(5, 10)


def test_an_evaluator_is_shown_against_the_steps_of_its_job() -> None:
    listed = Listed([job(roles={"Chief": 1, "Evaluator": 1})])
    pods = [running("chief-0"), running("evaluator-0")]
    told = {"chief-0": progress(8, 10), "evaluator-0": progress(5, 0, "evaluating")}
    (found,) = looks(Listed(listed.jobs, pods), "m", told=told)
    assert found.replicas[1].progress == progress(5, 10, "evaluating")


def test_a_pod_in_the_place_of_another_is_a_restart() -> None:
    events = [
        event("SuccessfulCreatePod", "Created pod: m-worker-0", count=3),
        event("SuccessfulCreatePod", "Created pod: m-worker-0", count=1),
        event("SuccessfulCreatePod", "Created pod: m-worker-1", count=1),
        event("ExitedWithCode", "Pod: training.m-worker-0 exited with code 138"),
    ]
    (found,) = looks(Listed([job()], [running(restarts=1)], events), "m")
    assert found.replicas[0].restarts == 1 + 3


def test_what_keeps_a_job_is_beside_its_name() -> None:
    why = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    (found,) = looks(Listed([job()], [pod(unscheduled=why)]), "m")
    assert found.replicas[0].state == "Unschedulable"
    assert found.note == (
        "worker-0 cannot be placed on a node: 0/3 nodes are available: "
        "3 Insufficient nvidia.com/gpu"
    )


def test_an_image_that_cannot_be_pulled_is_the_replicas_state() -> None:
    waiting = {"waiting": ("ImagePullBackOff", 'Back-off pulling image "x": ErrImagePull: no')}
    (found,) = looks(Listed([job()], [pod(container=waiting)]), "m")
    assert found.replicas[0].state == "ImagePullBackOff"
    assert "worker-0 cannot have its image" in found.note


def test_a_failed_job_tells_who_began_it() -> None:
    listed = Listed(
        [job(conditions={"Failed": "TFJob training/m has failed."})],
        [pod(phase="Failed", container={"ended": {"code": 3}})],
    )
    (found,) = looks(listed, "m")
    assert (found.state, found.note) == ("Failed", "worker-0 failed first, with exit code 3")
    assert found.replicas[0].state == "Error"


def test_the_pods_of_a_job_that_is_over_are_gone_and_not_yet_to_come() -> None:
    (found,) = looks(Listed([job(conditions={"Succeeded": "done"})]), "m")
    assert found.replicas[0].state == "gone"


def test_a_declared_job_that_is_not_there() -> None:
    (found,) = looks(Listed(), "m")
    assert found == JobLook("m", "Absent", TO_BE_MADE)


def test_a_job_that_is_being_deleted() -> None:
    deleted = job(metadata={"deletionTimestamp": "2026-11-30T16:53:09Z"})
    (found,) = looks(Listed([deleted], [running()]), "m")
    assert (found.state, found.note) == ("Terminating", "")


def test_of_the_namespaces_jobs_only_the_stacks_are_shown() -> None:
    """Those of its file, and those that it made and that the file no longer has."""
    jobs = [
        job(metadata={"name": "foreign"}),
        job(metadata={"name": "old", "labels": OWN}),
        job(metadata={"name": "m", "labels": OWN}),
        job(metadata={"name": "theirs", "labels": {"ack-training/stack": "o.ack-training.prod"}}),
    ]
    found = looks(Listed(jobs), "m", "theirs")
    assert [each.name for each in found] == ["m", "theirs", "old"]
    assert found[1].state == "Absent"


def test_a_job_that_left_the_file_is_said_to_go() -> None:
    left = job(
        metadata={"name": "m", "labels": OWN, "uid": "other"},
        conditions={"Running": "m is running."},
    )
    (found,) = looks(Listed([left], [running()]))
    assert found.note == "no longer in the stack's file: `pulumi up` deletes it"


LABELS = {"app.kubernetes.io/name": "tensorboard"}


def deployment(ready: int = 0) -> dict[str, Any]:
    return {
        "metadata": {"name": "tensorboard"},
        "spec": {"selector": {"matchLabels": LABELS}},
        "status": {"readyReplicas": ready} if ready else {},
    }


def board(name: str = "tensorboard-1", ready: bool = False, **made: Any) -> dict[str, Any]:
    """A pod of TensorBoard."""
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    status = {"conditions": conditions, "containerStatuses": [container(**made)]}
    return pod(
        metadata={"name": name, "uid": name, "labels": LABELS}, phase="Running", status=status
    )


def test_a_service_is_ready_when_one_of_its_pods_is() -> None:
    assert service_look("t", deployment(1), (), ()) == ServiceLook("t", "Ready")


def test_a_service_that_is_not_there() -> None:
    assert service_look("t", None, (), ()) == ServiceLook("t", "Absent", TO_BE_MADE)


def test_a_service_that_is_not_ready_says_why() -> None:
    waiting = ("ErrImagePull", "no such image")
    found = service_look("t", deployment(), [running(), board(waiting=waiting)], ())
    assert found.state == "not ready"
    assert found.note == "its pod cannot have its image registry.invalid/no/such:1: no such image"


def test_other_reasons_of_a_service() -> None:
    def why(*pods: dict[str, Any]) -> str:
        return why_not_ready(pods_of(deployment(), pods, ()))

    assert why() == "it has no pod"
    assert why(board()) == "its pod is ContainerCreating"
    assert why(board(running=True)) == "its pod does not answer yet"


def test_a_connection_goes_to_a_pod_that_answers() -> None:
    def chosen(*pods: dict[str, Any]) -> str | None:
        found = ready_pod(pods_of(deployment(), pods, ()))
        return found.name if found else None

    ending = board("ending", ready=True, running=True)
    ending["metadata"]["deletionTimestamp"] = "2026-11-30T16:53:09Z"
    fresh = board("fresh", ready=True, running=True)
    assert chosen(board("starting"), ending, fresh) == "fresh"
    assert chosen(board("starting"), ending, running()) is None
