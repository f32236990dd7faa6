"""What keeps a job from running, by the words that a real cluster found for it."""

import pytest

from cluster.troubles import Trouble
from cluster.verdict import judge
from tests.cluster_reading.objects import Object, event, job, pod, seen

NO_GPU = (
    "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. no new claims to deallocate, "
    "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
)
NO_GPU_SHORT = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu"
NO_NETWORK = (
    'failed to pull and unpack image "r.invalid/x:1": failed to resolve reference "r.invalid/x:1": '
    'failed to do request: Head "https://r.invalid/v2/x/manifests/1": dial tcp: lookup r.invalid: '
    "network is unreachable"
)
NOT_FOUND = (
    'failed to pull and unpack image "docker.io/library/x:1": failed to resolve reference '
    '"docker.io/library/x:1": docker.io/library/x:1: not found'
)
NO_COMMAND = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc "
    'create failed: unable to start container process: exec: "/no/such": stat /no/such: no such '
    "file or directory: unknown"
)
NO_COMMAND_SHORT = 'exec: "/no/such": stat /no/such: no such file or directory'


def troubles(
    *pods: Object, events: tuple[Object, ...] = (), autoscaled: bool = False, **of_job: object
) -> tuple[Trouble, ...]:
    found = seen(job(**of_job), *pods, events=events)
    return judge(found, autoscaled=autoscaled, operator_namespace="kubeflow").troubles


def only(*pods: Object, **given: object) -> Trouble:
    (found,) = troubles(*pods, **given)  # type: ignore[arg-type]
    return found


def test_pods_that_run_or_are_made_are_no_trouble() -> None:
    made = pod("worker-0")
    runs = pod("worker-1", phase="Running", container={"running": True})
    assert troubles(made, runs, roles={"Worker": 2}) == ()


def test_no_room_is_told_as_the_scheduler_means_it() -> None:
    found = only(pod(unscheduled=NO_GPU))
    assert found.sentence() == f"worker-0 cannot be placed on a node: {NO_GPU_SHORT}"
    assert found.grace_seconds == 15


def test_no_room_where_a_pool_can_grow_ends_no_wait() -> None:
    assert only(pod(unscheduled=NO_GPU), autoscaled=True).grace_seconds is None


@pytest.mark.parametrize("reason", ["TriggeredScaleUp", "ProvisionNode", "Nominated"])
@pytest.mark.parametrize("autoscaled", [True, False])
def test_a_node_that_is_coming_is_waited_for(reason: str, autoscaled: bool) -> None:
    said = event(reason, "pod triggered scale-up: [{gpu 0->1 (max: 8)}]", "worker-0", type="Normal")
    found = only(pod(unscheduled=NO_GPU), events=(said,), autoscaled=autoscaled)
    assert found.grace_seconds is None
    assert found.what == "waits for a new node: pod triggered scale-up: [{gpu 0->1 (max: 8)}]"


@pytest.mark.parametrize("reason", ["NotTriggerScaleUp", "FailedScaleUp", "ProvisionNodeFailed"])
def test_an_autoscaler_that_refuses_ends_the_wait_with_its_reason(reason: str) -> None:
    came = event("TriggeredScaleUp", "pod triggered scale-up", "worker-0", second=10)
    said = event(reason, "pod didn't trigger scale-up: 1 max node group size reached", "worker-0")
    found = only(pod(unscheduled=NO_GPU), events=(said, came), autoscaled=True)
    assert found.grace_seconds == 60
    assert found.what.endswith("; the autoscaler adds no node: 1 max node group size reached")


@pytest.mark.parametrize(
    ("said", "short", "grace"),
    [
        (
            '0/1 nodes are available: persistentvolumeclaim "nas" not found. not found',
            '0/1 nodes are available: persistentvolumeclaim "nas" not found',
            15,
        ),
        (
            "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
            "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims",
            90,
        ),
        (
            'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
            'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
            90,
        ),
    ],
)
@pytest.mark.parametrize("autoscaled", [True, False])
def test_a_volume_is_told_as_one(said: str, short: str, grace: int, autoscaled: bool) -> None:
    found = only(pod(unscheduled=said), autoscaled=autoscaled)
    assert (found.kind, found.grace_seconds) == ("volume", grace)
    assert found.what == f"cannot be placed on a node: {short}"


def test_a_pod_that_waits_for_its_turn_is_no_trouble() -> None:
    gated = pod(unscheduled="Scheduling is blocked due to non-empty scheduling gates")
    gated["status"]["conditions"][0]["reason"] = "SchedulingGated"
    assert troubles(gated) == ()


def test_a_scheduler_that_is_not_there_is_named() -> None:
    found = only(pod(unscheduled="x", status={"conditions": []}, spec={"schedulerName": "volcano"}))
    assert found.sentence() == "worker-0 is not looked at by its scheduler, volcano"


@pytest.mark.parametrize(
    ("waiting", "what", "grace"),
    [
        (
            ("ErrImagePull", NO_NETWORK),
            'Head "https://r.invalid/v2/x/manifests/1": dial tcp: lookup r.invalid: network is '
            "unreachable",
            45,
        ),
        (
            ("ImagePullBackOff", f'Back-off pulling image "x:1": ErrImagePull: {NOT_FOUND}'),
            "docker.io/library/x:1: not found",
            5,
        ),
        (
            ("ErrImagePull", "rpc error: code = Unknown desc = pull access denied for x"),
            "pull access denied for x",
            5,
        ),
        (
            ("ErrImageNeverPull", 'Container image "x" is not present with pull policy of Never'),
            'Container image "x" is not present with pull policy of Never',
            5,
        ),
        (
            ("InvalidImageName", 'couldn\'t parse image name "X": invalid reference format'),
            'couldn\'t parse image name "X": invalid reference format',
            5,
        ),
        (
            ("ErrImagePull", "toomanyrequests: pull rate limit"),
            "toomanyrequests: pull rate limit",
            45,
        ),
    ],
)
def test_an_image_that_cannot_be_had(waiting: tuple[str, str], what: str, grace: int) -> None:
    found = only(pod(container={"waiting": waiting}))
    assert found.what == f"cannot have its image registry.invalid/no/such:1: {what}"
    assert found.grace_seconds == grace


def test_an_older_kubelets_reason_is_in_its_event() -> None:
    waiting = ("ImagePullBackOff", 'Back-off pulling image "x:1"')
    said = event("Failed", f'Failed to pull image "x:1": {NOT_FOUND}', "worker-0")
    found = only(pod(container={"waiting": waiting}), events=(said,))
    assert found.what.endswith("registry.invalid/no/such:1: docker.io/library/x:1: not found")


@pytest.mark.parametrize(
    ("said", "short", "grace"),
    [
        ('secret "s" not found', 'secret "s" not found', 10),
        (
            "couldn't find key k in Secret training/s",
            "couldn't find key k in Secret training/s",
            10,
        ),
        (
            "container has runAsNonRoot and image will run as root (pod: "
            '"m-worker-0_training(c66782d5)", container: tensorflow)',
            "container has runAsNonRoot and image will run as root",
            10,
        ),
        (
            "failed to sync secret cache: timed out waiting for the condition",
            "failed to sync secret cache: timed out waiting for the condition",
            60,
        ),
    ],
)
def test_a_container_that_cannot_be_configured(said: str, short: str, grace: int) -> None:
    found = only(pod(container={"waiting": ("CreateContainerConfigError", said)}))
    assert (found.what, found.grace_seconds) == (f"cannot be configured: {short}", grace)


@pytest.mark.parametrize(
    ("reason", "said", "short", "grace"),
    [
        ("RunContainerError", NO_COMMAND, NO_COMMAND_SHORT, 5),
        ("CreateContainerError", "no command specified", "no command specified", 5),
        ("CreateContainerError", "context deadline exceeded", "context deadline exceeded", 60),
        ("PostStartHookError", "", "PostStartHookError", 5),
    ],
)
def test_a_container_that_cannot_start(reason: str, said: str, short: str, grace: int) -> None:
    found = only(pod(container={"waiting": (reason, said)}))
    assert (found.what, found.grace_seconds) == (f"cannot be started: {short}", grace)


def test_a_command_that_is_not_there_is_not_retried_for_ever() -> None:
    ended = {"code": 128, "reason": "StartError", "message": NO_COMMAND}
    never = pod("worker-0", phase="Failed", container={"ended": ended})
    found = troubles(never, pod("worker-1"), roles={"Worker": 2})
    assert [one.sentence() for one in found] == [f"worker-0 cannot be started: {NO_COMMAND_SHORT}"]
    assert found[0].grace_seconds == 0
    backs_off = {"waiting": ("CrashLoopBackOff", "back-off 10s"), "before": ended, "restarts": 1}
    again = only(pod(phase="Running", container=backs_off))
    assert (again.what, again.grace_seconds) == (f"cannot be started: {NO_COMMAND_SHORT}", 5)


@pytest.mark.parametrize(
    ("reason", "said", "what", "grace"),
    [
        (
            "FailedMount",
            'MountVolume.SetUp failed for volume "v" : configmap "c" not found',
            'cannot mount its volumes: MountVolume.SetUp failed for volume "v" : configmap "c" not '
            "found",
            10,
        ),
        (
            "FailedMount",
            "mount.nfs: access denied by server while mounting nas:/x",
            "cannot mount its volumes: mount.nfs: access denied by server while mounting nas:/x",
            10,
        ),
        (
            "FailedAttachVolume",
            'Multi-Attach error for volume "v"',
            'cannot mount its volumes: Multi-Attach error for volume "v"',
            90,
        ),
        (
            "FailedCreatePodSandBox",
            "plugin type=bridge failed",
            "gets no network or devices: plugin type=bridge failed",
            60,
        ),
    ],
)
def test_what_comes_before_the_containers(reason: str, said: str, what: str, grace: int) -> None:
    found = only(pod(), events=(event(reason, said, "worker-0"),))
    assert (found.what, found.grace_seconds) == (what, grace)


def test_a_mount_that_timed_out_is_told_with_its_cause() -> None:
    cause = event("FailedMount", "mount.nfs: access denied by server", "worker-0", second=10)
    late = "Unable to attach or mount volumes: timed out waiting for the condition"
    found = only(pod(), events=(cause, event("FailedMount", late, "worker-0")))
    assert found.what == "cannot mount its volumes: mount.nfs: access denied by server"


def test_a_mount_that_succeeded_in_the_end_is_no_trouble() -> None:
    runs = pod(phase="Running", container={"running": True})
    assert troubles(runs, events=(event("FailedMount", "not yet", "worker-0"),)) == ()


@pytest.mark.parametrize(
    ("code", "restarts", "run", "grace"),
    [
        (1, 2, {}, None),
        (1, 3, {}, 0),
        # The loss of another replica, after which the next start may go right.
        (138, 9, {}, None),
        # The operator itself will say when it is enough.
        (1, 9, {"backoffLimit": 12}, None),
    ],
)
def test_a_container_that_ends_again_and_again(
    code: int, restarts: int, run: Object, grace: float | None
) -> None:
    state = {
        "waiting": ("CrashLoopBackOff", "back-off 40s restarting failed container"),
        "before": {"code": code},
        "restarts": restarts,
    }
    found = only(pod(phase="Running", container=state), run=run, policy="OnFailure")
    assert (found.kind, found.grace_seconds) == ("crash", grace)
    assert f"has ended {restarts + 1} times, the last time with exit code {code}" in found.what
    assert found.what.endswith("again and again (restartPolicy OnFailure)")


@pytest.mark.parametrize(
    "found",
    [
        pod(phase="Failed", container={"ended": {"code": 138}}),
        pod(phase="Running", container={"running": True, "before": {"code": 137}, "restarts": 4}),
        pod(metadata={"deletionTimestamp": "2026-11-30T16:53:00Z"}),
    ],
)
def test_a_replica_that_is_being_started_again_is_no_trouble(found: Object) -> None:
    others = pod("worker-1", phase="Running", container={"running": True})
    assert troubles(found, others, roles={"Worker": 2}) == ()


def test_a_node_that_is_lost_is_told_and_ends_no_wait() -> None:
    lost = pod(
        metadata={"deletionTimestamp": "2026-11-30T16:53:00Z"}, status={"reason": "NodeLost"}
    )
    found = only(lost)
    assert found.sentence() == "worker-0 is lost: its node n1 does not answer"
    assert found.grace_seconds is None


@pytest.mark.parametrize(
    ("said", "what", "grace"),
    [
        (
            'Error creating: pods "m-worker-0" is forbidden: exceeded quota: few, requested: '
            "pods=1, used: pods=1, limited: pods=1",
            "exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1",
            20,
        ),
        (
            'Error creating: pods "m-worker-0" is forbidden: violates PodSecurity '
            '"restricted:latest": runAsNonRoot != true',
            'violates PodSecurity "restricted:latest": runAsNonRoot != true',
            8,
        ),
        (
            'Error creating: admission webhook "w.example" denied the request: no',
            'admission webhook "w.example" denied the request: no',
            8,
        ),
    ],
)
def test_a_pod_that_may_not_be_created(said: str, what: str, grace: int) -> None:
    found = only(events=(event("FailedCreatePod", said),), conditions={})
    assert found.sentence() == f"worker-0 cannot be created: {what}"
    assert found.grace_seconds == grace


def test_a_pod_that_could_be_created_in_the_end_is_no_trouble() -> None:
    said = event("FailedCreatePod", 'Error creating: pods "m-worker-0" is forbidden: no')
    assert troubles(pod(), events=(said,)) == ()


def test_another_pod_that_is_missing_is_not_the_forbidden_one() -> None:
    said = event("FailedCreatePod", 'Error creating: pods "m-worker-0" is forbidden: no')
    assert troubles(pod(), events=(said,), roles={"Worker": 2}) == ()


SILENT = "the training operator does not react to it: is it running in namespace kubeflow?"


def test_an_operator_that_does_not_react_is_told() -> None:
    found = only(conditions={})
    assert (found.sentence(), found.grace_seconds) == (SILENT, 20)


def test_a_suspension_that_does_not_happen_is_told() -> None:
    runs = pod(phase="Running", container={"running": True})
    found = only(runs, run={"suspend": True}, conditions={"Running": ""})
    assert found.sentence() == SILENT


def test_a_suspended_job_that_does_not_go_on_is_told() -> None:
    assert only(conditions={"Created": "", "Suspended": ""}).sentence() == SILENT


def test_an_end_that_nobody_noticed_is_told() -> None:
    done = pod(phase="Succeeded", container={"ended": {"code": 0}})
    assert only(done, conditions={"Running": ""}).sentence() == SILENT


def test_another_controllers_job_is_not_the_operators() -> None:
    managed = {"managedBy": "kueue.x-k8s.io/multikueue"}
    assert troubles(run=managed, conditions={}) == ()
    own = {"managedBy": "kubeflow.org/training-operator"}
    assert only(run=own, conditions={}).sentence() == SILENT


def of_one_before(second: int, message: str = f"Error: {NO_COMMAND}") -> Object:
    told = event("Failed", message, "worker-0", second=second)
    told["involvedObject"]["uid"] = "of the pod before"
    return told


def test_a_pod_that_could_not_be_started_is_told_when_another_has_its_place() -> None:
    found = only(pod(), events=(of_one_before(20),))
    assert found == Trouble("start", "worker-0", f"cannot be started: {NO_COMMAND_SHORT}", 0.0)


@pytest.mark.parametrize("message", ["Error: ImagePullBackOff", 'Error: secret "x" not found'])
def test_what_was_mended_since_is_not_told(message: str) -> None:
    assert troubles(pod(), events=(of_one_before(20, message),)) == ()
    # Of the TFJob before this one.
    later = {"metadata": {**job()["metadata"], "creationTimestamp": "2026-11-30T16:54:00Z"}}
    found = seen(job(**later), pod(), events=(of_one_before(20),))
    assert judge(found).troubles == ()
    runs = pod(phase="Running", container={"running": True})
    assert troubles(runs, events=(of_one_before(20),)) == ()


def test_a_container_that_could_not_be_started_is_told_before_it_is_counted() -> None:
    ended = {"code": 128, "reason": "StartError", "message": NO_COMMAND}
    found = only(pod(phase="Running", container={"ended": ended, "restarts": 1}))
    assert found.sentence() == f"worker-0 cannot be started: {NO_COMMAND_SHORT}"
