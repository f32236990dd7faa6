"""Jobs on a real cluster, told and gated by our resource: no program, a shell in its place."""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cluster.client import Cluster
from cluster.seen import GENERATION
from provider.cluster import training_run
from provider.cluster.connection import Connection
from provider.cluster.training_run import TrainingRun
from provider.kinds import Call, NotReady, ProviderError
from tests.cluster.jobs import Jobs, role, until

MakeJobs = Callable[..., Jobs]

NAMESPACE = "kubeflow"


@pytest.fixture
def make_jobs(operated: Any) -> Iterator[MakeJobs]:
    made: list[Jobs] = []

    def make(**labels: str) -> Jobs:
        namespace = f"jobs-{uuid.uuid4().hex[:8]}"
        made.append(Jobs.make(str(operated.kubeconfig), operated.busybox, namespace, labels))
        return made[-1]

    yield make
    for jobs in made:
        jobs.cluster.delete(f"/api/v1/namespaces/{jobs.namespace}")


@pytest.fixture
def jobs(make_jobs: MakeJobs) -> Jobs:
    return make_jobs()


def test_a_job_is_waited_for_until_it_has_succeeded(jobs: Jobs) -> None:
    lines = "step 10/20  loss 0.9000  50 examples/s\\nstep 20/20  loss 0.5000  60 examples/s\\n"
    jobs.declare("m", {"Worker": role(f"printf '{lines}'; sleep 2", replicas=2)})
    assert jobs.up("m") == "Succeeded"
    assert jobs.told[-1] == "step 20 of 20, loss 0.5000, 60 examples/s"


def test_a_running_job_satisfies_who_waits_for_that(jobs: Jobs) -> None:
    jobs.declare("m", {"Chief": role("sleep 300"), "Worker": role("sleep 300", replicas=2)})
    assert jobs.up("m", wait="running") == "Running"
    assert {pod["status"]["phase"] for pod in jobs.pods("m")} == {"Running"}


def test_a_failure_names_the_first_replica_and_shows_its_log(jobs: Jobs) -> None:
    jobs.declare(
        "m",
        {
            "Chief": role("echo the chief waits; sleep 300"),
            "Worker": role("echo what happened; sleep 2; exit 7"),
        },
    )
    said = jobs.failing_up("m").splitlines()
    assert said[0].startswith("m Failed: ")
    assert said[1:3] == ["the first to fail was worker-0, with exit code 7", "  what happened"]
    assert said[-1] == "whole log: make logs STACK=local JOB=m REPLICA=worker-0"


def test_out_of_memory_is_told_with_the_limit(jobs: Jobs) -> None:
    limits = {"resources": {"limits": {"memory": "32Mi"}}}
    eats = "x=a; while true; do x=$x$x; done"
    jobs.declare("m", {"Worker": role(eats, container=limits)})
    said = jobs.failing_up("m")
    assert "worker-0, with exit code 137 (OOMKilled; memory limit 32Mi)" in said


def test_a_replica_that_only_ends_is_not_started_for_ever(jobs: Jobs) -> None:
    jobs.declare("m", {"Worker": role("exit 138", policy="ExitCode")})
    said = jobs.failing_up("m")
    assert "worker-0 was started 10 times in a row" in said
    assert "with exit code 138 (it lost another replica)" in said


_VOLUME: dict[str, Any] = {"volumes": [{"name": "v", "configMap": {"name": "nothing"}}]}
_MOUNT = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
_SECRET = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "nothing", "key": "k"}}}

TROUBLES: dict[str, tuple[dict[str, Any], str]] = {
    "no-room": (
        role("true", container={"resources": {"limits": {"nvidia.com/gpu": 1}}}),
        "worker-0 cannot be placed on a node: 0/1 nodes are available: "
        "1 Insufficient nvidia.com/gpu",
    ),
    "no-node": (
        role("true", nodeSelector={"pool": "none"}),
        "worker-0 cannot be placed on a node: 0/1 nodes are available: "
        "1 node(s) didn't match Pod's node affinity/selector",
    ),
    "no-claim": (
        role("true", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "nas"}}]),
        'worker-0 cannot be placed on a node: 0/1 nodes are available: persistentvolumeclaim "nas" '
        "not found",
    ),
    "bad-image": (
        role("true", container={"image": "UPPER/x"}),
        "worker-0 cannot have its image UPPER/x: ",
    ),
    "no-image": (
        role("true", container={"image": "test.local/no:1", "imagePullPolicy": "Never"}),
        "worker-0 cannot have its image test.local/no:1: ",
    ),
    "no-secret": (
        role("true", container={"env": [_SECRET]}),
        'worker-0 cannot be configured: secret "nothing" not found',
    ),
    "no-config-map": (
        role("true", container=_MOUNT, **_VOLUME),
        'worker-0 cannot mount its volumes: MountVolume.SetUp failed for volume "v" : configmap '
        '"nothing" not found',
    ),
    "no-command": (
        role("true", policy="OnFailure", container={"command": ["/no/such"]}),
        'worker-0 cannot be started: exec: "/no/such": stat /no/such: no such file or directory',
    ),
    "no-command-again": (
        # The operator deletes its pods as soon as they have failed.
        role("true", policy="ExitCode", container={"command": ["/no/such"]}),
        'worker-0 cannot be started: exec: "/no/such": stat /no/such: no such file or directory',
    ),
    "no-account": (
        role("true", serviceAccountName="nobody"),
        "worker-0 cannot be created: error looking up service account ",
    ),
    "no-priority": (
        role("true", priorityClassName="none"),
        "worker-0 cannot be created: no PriorityClass with name none was found",
    ),
}


def test_an_operator_that_is_not_there_is_told_at_the_preview(operated: Any, jobs: Jobs) -> None:
    def refusals() -> list[str]:
        inputs = {
            "connection": {"kubeconfig": jobs.kubeconfig},
            "namespace": jobs.namespace,
            "requires": [{"operator": NAMESPACE, "hint": "mend it"}],
        }
        return Connection().refusals(Call(inputs=inputs))

    assert refusals() == []
    scale = ("scale", "deployment/training-operator", "--namespace", NAMESPACE)
    operated.kubectl(*scale, "--replicas=0")
    try:
        until(lambda: refusals() != [], "the operator goes on without pods")
        (said,) = refusals()
        assert said.endswith(
            f": the training operator in namespace {NAMESPACE} does not answer: mend it"
        )
    finally:
        operated.kubectl(*scale, "--replicas=1")
        operated.kubectl(
            *("rollout", "status", "deployment/training-operator"),
            *("--namespace", NAMESPACE, "--timeout=180s"),
        )


def test_what_keeps_a_job_from_running_is_told(jobs: Jobs) -> None:
    def said_of(name: str) -> str:
        jobs.declare(name, {"Worker": TROUBLES[name][0]})
        return jobs.failing_up(name)

    with ThreadPoolExecutor(len(TROUBLES)) as pool:
        said = dict(zip(TROUBLES, pool.map(said_of, TROUBLES), strict=True))
    missed = {
        name: said[name]
        for name, (_, sentence) in TROUBLES.items()
        if not said[name].startswith(f"{name}: {sentence}")
    }
    assert missed == {}


def test_a_quota_that_is_used_up_is_told(jobs: Jobs) -> None:
    jobs.make_object("ResourceQuota", "few", spec={"hard": {"pods": "1"}})
    jobs.declare("m", {"Worker": role("sleep 300", replicas=2)})
    assert "cannot be created: exceeded quota: few, " in jobs.failing_up("m")


def test_what_pod_security_forbids_is_told(make_jobs: MakeJobs) -> None:
    jobs = make_jobs(**{"pod-security.kubernetes.io/enforce": "restricted"})
    jobs.declare("m", {"Worker": role("true")})
    said = jobs.failing_up("m")
    assert said.startswith(
        'm: worker-0 cannot be created: violates PodSecurity "restricted:latest"'
    )


_ONCE_MENDED = {
    "name": "MENDED",
    "valueFrom": {"configMapKeyRef": {"name": "mended", "key": "k", "optional": True}},
}


def declare_mendable(jobs: Jobs, name: str) -> None:
    """A job that fails until `mend`."""
    worker = role('test -n "$MENDED"', container={"env": [_ONCE_MENDED]})
    jobs.declare(name, {"Worker": worker})


def mend(jobs: Jobs) -> None:
    jobs.make_object("ConfigMap", "mended", data={"k": "yes"})


def test_a_failed_job_is_started_again_as_it_was_declared(jobs: Jobs) -> None:
    declare_mendable(jobs, "m")
    jobs.failing_up("m")
    before, declared = jobs.live("m"), jobs.declared("m")
    assert TrainingRun().read(jobs.call("m", {"state": "Running"})) == {"state": "Failed"}
    change = TrainingRun().compare(jobs.call("m", {"state": "Running"}))
    assert change.notes == ("it failed (worker-0, with exit code 1): `pulumi up` starts it again",)

    mend(jobs)
    assert jobs.up_again(jobs.call("m", {"state": "Failed"})) == "Succeeded"
    after = jobs.live("m")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert jobs.declared("m") == declared
    assert after["spec"] == before["spec"]
    assert not left_overs(jobs, "m")
    assert not TrainingRun().compare(jobs.call("m", {"state": "Succeeded"}))


class KilledError(Exception):
    """The process ended here."""


@pytest.mark.parametrize("write", [1, 2, 3])
def test_killed_after_a_write_while_it_is_started_again_it_goes_on(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    declare_mendable(jobs, "m")
    jobs.failing_up("m")
    declared, mended = jobs.declared("m"), jobs.call("m", {"state": "Failed"})
    mend(jobs)
    with monkeypatch.context() as patch:
        patch.setattr(training_run, "opened", lambda _: Mortal(jobs.cluster, write))
        with pytest.raises(KilledError):
            TrainingRun().update(mended)
    assert TrainingRun().compare(mended) or write == 3
    assert jobs.up_again(mended) == "Succeeded"
    assert jobs.declared("m") == declared
    assert not left_overs(jobs, "m")


class Mortal(Cluster):
    """A client in a process that is killed after one of its writes: of what is declared, of the
    TFJob's end, of its return, and of the end of what was declared."""

    def __init__(self, alive: Cluster, writes: int) -> None:
        self.__dict__.update(alive.__dict__)
        self._left = writes

    def _ask(self, method: str, *request: Any) -> bytes:
        answer = super()._ask(method, *request)
        self._left -= method != "GET"
        if not self._left:
            raise KilledError
        return answer


def left_overs(jobs: Jobs, name: str) -> bool:
    return jobs.has(f"/api/v1/namespaces/{jobs.namespace}/configmaps/ack-training-restart-{name}")


def test_pods_of_an_older_declaration_are_started_again(jobs: Jobs) -> None:
    jobs.declare("m", {"Worker": role("sleep 300", replicas=2)})
    jobs.up("m", wait="running")
    second = role("sleep 300", replicas=2)
    second["template"]["metadata"]["annotations"][GENERATION] = "second"
    jobs.declare("m", {"Worker": second})
    jobs.up("m", wait="running")
    pods = jobs.pods("m")
    assert {pod["metadata"]["annotations"][GENERATION] for pod in pods} == {"second"}
    uids = {pod["metadata"]["uid"] for pod in pods}
    jobs.up("m", wait="running")
    assert {pod["metadata"]["uid"] for pod in jobs.pods("m")} == uids


def test_a_job_is_suspended_and_goes_on(jobs: Jobs) -> None:
    roles = {"Worker": role("sleep 300")}
    jobs.declare("m", roles)
    jobs.up("m", wait="running")
    jobs.declare("m", roles, suspend=True)
    assert jobs.up("m", suspend=True) == "Suspended"
    assert jobs.pods("m") == []
    jobs.declare("m", roles)
    assert jobs.up("m", wait="running") == "Running"


def test_a_job_whose_tfjob_is_gone_says_what_to_do(jobs: Jobs) -> None:
    call = jobs.call("m", {"state": "Running"})
    sentence = "its TFJob is gone: `pulumi refresh`, then `pulumi up`, creates it again"
    assert TrainingRun().compare(call).notes == (sentence,)
    with pytest.raises(ProviderError, match="its TFJob is gone"):
        TrainingRun().update(call)
    assert TrainingRun().read(call) == {"state": "Absent"}


def test_a_wait_that_is_over_says_where_the_replicas_are(jobs: Jobs) -> None:
    jobs.declare("m", {"Worker": role("sleep 300")})
    jobs.up("m", wait="running")
    said = jobs.failing_up("m", waitTimeoutSeconds=1)
    assert said.startswith("m: waited 1 s for it to succeed, and it is still Running (worker-0 Run")


def test_an_interrupted_wait_leaves_the_job(jobs: Jobs) -> None:
    jobs.declare("m", {"Worker": role("sleep 300")})
    call = jobs.call("m")
    object.__setattr__(call, "cancelled", lambda: True)
    with pytest.raises(NotReady, match="no longer waited for; it goes on"):
        TrainingRun().create(call)
    until(lambda: bool(jobs.pods("m")), "the job is gone")
