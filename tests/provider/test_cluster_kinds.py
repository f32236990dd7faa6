"""Our resources of a stack on a cluster, before and without the cluster."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cluster.errors import RefusedError, UnreachableError
from cluster.seen import GENERATION
from provider.cluster import sentences, training_run
from provider.cluster.connection import Connection
from provider.cluster.destroy_guard import DestroyGuard
from provider.cluster.opened import holds_unknown
from provider.cluster.training_run import TrainingRun
from provider.kinds import Call, Change, NotReady, Properties, ProviderError
from provider.registry import kind_of

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
NOWHERE = {"content": "no kubeconfig"}
LOG = "step 1200/2000  loss 0.5000  100 examples/s\n"

OLD: dict[str, Any] = {
    "connection": {"kubeconfig": "there", "context": "dev"},
    "namespace": "training",
    "name": "m",
    "run": 1,
    "program": "mine.py",
    "code": {"mine.py": "1"},
    "args": ["--steps=2000"],
    "roles": {"chief": {"replicas": 1}, "worker": {"replicas": 2}},
    "directory": "m",
    "runPolicy": {},
    "suspend": False,
    "wait": "running",
    "waitTimeoutSeconds": None,
    "generation": "g1",
    "autoscaled": False,
    "operatorNamespace": "kubeflow",
    "storage": "hostPath /srv/a",
}


class FakeCluster:
    """Answers by path; what it does not have is not found."""

    def __init__(self, *, log: str = LOG, **jobs: dict[str, Any]) -> None:
        self.log = log
        self.jobs = jobs

    def get(self, path: str, **_: object) -> dict[str, Any]:
        name = path.rpartition("/")[2]
        if "/tfjobs/" in path and name in self.jobs:
            return self.jobs[name]
        raise RefusedError("not found", 404, "NotFound")

    def text(self, path: str, **_: object) -> str:
        return self.log


def tfjob(condition: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "m", "namespace": "training", "uid": "1"},
        "status": {"conditions": [{"type": condition, "status": "True"}]},
    }


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    found = FakeCluster(m=tfjob("Running"))
    for module in (training_run, sentences):
        monkeypatch.setattr(module, "opened", lambda _: found)
    return found


def compared(state: str = "Running", **changes: Any) -> Change:
    call = Call(inputs={**OLD, **changes}, old_inputs=OLD, outputs={"state": state})
    return TrainingRun().compare(call)


def note(change: Change) -> str:
    (said,) = change.notes
    return said


WORKERS: dict[str, Any] = {
    "roles": {"chief": {"replicas": 1}, "worker": {"replicas": 3}},
    "generation": "g2",
}
AGAIN = "the running job is deleted and created again"


def test_a_changed_job_says_what_becomes_of_it(there: FakeCluster) -> None:
    change = compared(**WORKERS)
    assert note(change) == (
        f"worker 2 → 3: {AGAIN}; training resumes from its last checkpoint "
        "(step 1200 of 2000 was reached)"
    )
    assert change.replaces == ()
    assert set(change.updates) == {"generation", "roles.worker.replicas"}


def test_a_new_job_is_introduced_with_its_size() -> None:
    roles: dict[str, Any] = {
        "worker": {
            "replicas": 2,
            "gpus": 1,
            "cpu": "500m",
            "memory": "1536Mi",
            "nodePool": "a10",
        },
        "chief": {"replicas": 1, "gpus": 0, "cpu": "2"},
    }
    call = Call(inputs={**OLD, "roles": roles, "strategy": "MultiWorkerMirrored"})
    assert TrainingRun().introduction(call) == [
        "new job (MultiWorkerMirrored): chief 1 × 2 cpu, worker 2 × 500m cpu/1536Mi/1 GPU/a10; "
        "in all 3 cpu, 3Gi, 2 GPUs; `pulumi up` waits until it runs"
    ]
    bare = Call(inputs={**OLD, "suspend": True})
    assert TrainingRun().introduction(bare) == [
        "new job: chief 1, worker 2; it asks for no cpu, memory or GPUs; suspended from the start"
    ]


def test_the_engines_own_question_is_answered_without_a_sentence(there: FakeCluster) -> None:
    """Before it replaces a TFJob it asks what depends on its uid; the job is there still."""
    there.jobs["m"] = tfjob("Running")
    call = Call(
        inputs={**OLD, "uid": UNKNOWN},
        old_inputs={**OLD, "uid": "1"},
        outputs={"state": "Running", "uid": "1"},
    )
    change = TrainingRun().compare(call)
    assert (change.updates, change.notes) == (("uid",), ())


def test_a_tfjob_that_is_another_object_is_waited_for(there: FakeCluster) -> None:
    old = {**OLD, "uid": "u1"}

    def change(uid: str, state: str = "Running", waited_for: str = "u1") -> Change:
        outputs = {"state": state, "uid": waited_for}
        return TrainingRun().compare(
            Call(inputs={**OLD, "uid": uid}, old_inputs=old, outputs=outputs)
        )

    for state in ("Running", "Succeeded"):
        for uid in ("u2", UNKNOWN, ""):
            assert change(uid, state).updates == ("uid",)
            assert note(change(uid, state)) == (
                "its TFJob is created again: `pulumi up` waits until it runs"
            )
    assert not change("u1")
    # We have started it again ourselves, which a refresh has found since.
    assert not change("u2", waited_for="u2")
    # A stack of an earlier version.
    assert not TrainingRun().compare(
        Call(inputs={**OLD, "uid": "u1"}, old_inputs=OLD, outputs={"state": "Running"})
    )


def test_a_tfjob_that_is_another_object_is_no_finished_one(there: FakeCluster) -> None:
    there.jobs["m"] = tfjob("Failed")
    call = Call(
        inputs={**OLD, "uid": "u2"},
        old_inputs={**OLD, "uid": "u1"},
        outputs={"state": "Succeeded", "uid": "u1"},
    )
    with pytest.raises(NotReady):
        TrainingRun().update(call)


def test_another_secret_is_another_job(there: FakeCluster) -> None:
    def change(**secrets: Any) -> Change:
        old = {**OLD, "secret": "m-env-1", "secretVariables": {"A": "config"}}
        new = {**old, **secrets}
        return TrainingRun().compare(Call(inputs=new, old_inputs=old, outputs={"state": "Running"}))

    other = change(secret="m-env-2")
    assert note(other).startswith(f"a secret of env changed: {AGAIN}")
    added = change(secret="m-env-2", secretVariables={"A": "config", "B": "own/key"})
    assert note(added).startswith(f"env + B: {AGAIN}")


def edited(**fields: Any) -> list[dict[str, Any]]:
    mine: dict[str, Any] = {"f:spec": {"f:tfReplicaSpecs": {"f:Worker": {}}}}
    return [
        {"manager": "pulumi", "operation": "Apply", "fieldsV1": mine},
        {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": fields}},
    ]


def test_what_was_done_by_hand_is_told(there: FakeCluster) -> None:
    job = there.jobs["m"]
    job["metadata"]["managedFields"] = edited(**{"f:runPolicy": {"f:backoffLimit": {}}})
    back = "in the cluster by kubectl-edit: `pulumi refresh`, then `pulumi up`, puts it back"
    change = compared()
    assert note(change) == f"its TFJob was changed (runPolicy.backoffLimit) {back}"
    assert not change
    job["spec"] = {"runPolicy": {"suspend": True}}
    assert note(compared()) == f"its TFJob was suspended {back}"
    there.jobs["m"] = {**tfjob("Succeeded"), "spec": job["spec"]}
    assert compared().notes == ()


def test_an_up_that_was_interrupted_has_nothing_to_replace(there: FakeCluster) -> None:
    there.jobs["m"]["metadata"]["annotations"] = {GENERATION: "g2"}
    assert note(compared(**WORKERS)).startswith("worker 2 → 3: was deleted and created again")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"args": ["--steps=4000"]},
            f"args --steps=2000 → --steps=4000: {AGAIN}; training resumes from its last checkpoint "
            "(step 1200 of 2000 was reached)",
        ),
        (
            {},
            f"its specification changed (`pulumi preview --diff` shows how): {AGAIN}; training "
            "resumes from its last checkpoint (step 1200 of 2000 was reached)",
        ),
        (
            {"run": 2},
            f"run 1 → 2: {AGAIN}; trains anew from step 0, or on from the last checkpoint of run 2 "
            "where that was trained before; the checkpoints of run 1 are kept",
        ),
        (
            {"directory": "other"},
            f"directory m → other: {AGAIN}; training starts from what hostPath /srv/a/other holds; "
            "the old directory is kept",
        ),
        (
            {"storage": "nfs nas:/b"},
            f"storage hostPath /srv/a → nfs nas:/b: {AGAIN}; training starts from what nfs "
            "nas:/b/m holds; the old directory is kept",
        ),
    ],
)
def test_each_change_has_its_sentence(
    there: FakeCluster, changes: dict[str, Any], said: str
) -> None:
    assert note(compared(**changes, generation="g2")) == said


def test_a_storage_that_was_not_recorded_is_no_other_one(there: FakeCluster) -> None:
    before = {key: value for key, value in OLD.items() if key != "storage"}
    recorded = {"state": "Running", "uid": "1"}
    assert not TrainingRun().compare(Call(inputs=OLD, old_inputs=before, outputs=recorded))
    larger = Call(inputs={**OLD, **WORKERS}, old_inputs=before, outputs=recorded)
    assert note(TrainingRun().compare(larger)).startswith(
        f"worker 2 → 3: {AGAIN}; training resumes"
    )


def test_a_job_that_no_longer_runs_is_not_called_running(there: FakeCluster) -> None:
    there.jobs["m"] = tfjob("Succeeded")
    # Whatever was recorded: it ended after the last `up`.
    assert note(compared("Running", **WORKERS)).startswith("worker 2 → 3: deleted and created ag")


def test_where_the_log_tells_nothing_nothing_is_made_up(there: FakeCluster) -> None:
    there.log = "hello\n"
    expected = f"worker 2 → 3: {AGAIN}; training resumes from its last checkpoint, if it has one"
    assert note(compared(**WORKERS)) == expected


def test_a_cluster_that_is_away_does_not_fail_a_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: Properties) -> None:
        raise UnreachableError("away")

    monkeypatch.setattr(sentences, "opened", away)
    assert note(compared(**WORKERS)).endswith("resumes from its last checkpoint, if it has one")
    assert not compared()
    assert note(compared("Failed")).startswith("it failed: `pulumi up` starts it again")


def test_another_kubeconfig_is_no_change(there: FakeCluster) -> None:
    moved: dict[str, Any] = {"connection": {"kubeconfig": "elsewhere", "context": "dev"}}
    assert not compared(**moved)


def test_another_name_is_another_job(there: FakeCluster) -> None:
    assert compared(name="n").replaces == ("name",)
    assert compared(namespace="n").replaces == ("namespace",)


def test_what_is_of_the_waiting_alone_has_no_sentence(there: FakeCluster) -> None:
    change = compared(waitTimeoutSeconds=60, autoscaled=True)
    assert (change.updates, change.notes) == (("autoscaled", "waitTimeoutSeconds"), ())


def test_a_suspension_and_its_end_are_told(there: FakeCluster) -> None:
    assert note(compared(suspend=True)) == (
        "suspended in place: its pods are ended, its checkpoints are kept"
    )
    assert not compared("Succeeded", suspend=True).notes
    resumed = Call(inputs=OLD, old_inputs={**OLD, "suspend": True}, outputs={"state": "Suspended"})
    assert note(TrainingRun().compare(resumed)) == (
        "goes on in place; training resumes from its last checkpoint (step 1200 of 2000 was "
        "reached)"
    )


@pytest.mark.parametrize(
    ("recorded", "now", "wait", "said"),
    [
        ("Running", "Running", "running", None),
        ("Succeeded", "Failed", "succeeded", None),
        (
            "Running",
            "Failed",
            "running",
            "it failed: `pulumi up` starts it again; training resumes",
        ),
        ("Running", "Running", "succeeded", "it is Running: `pulumi up` waits until it has succ"),
        ("Running", "Succeeded", "succeeded", "it has succeeded since"),
        ("Created", "Created", "running", "it is Created: `pulumi up` waits until it runs"),
        ("Created", "Created", "submitted", None),
        ("Absent", "Created", "submitted", "it is Created by now"),
        ("Absent", "Created", "running", "it is Created: `pulumi up` waits until it runs"),
        ("Unknown", "Suspended", "running", "it is Suspended: `pulumi up` waits until it runs"),
        ("Suspended", "Running", "running", "it is Running by now"),
    ],
)
def test_what_happened_since_is_told(
    there: FakeCluster, recorded: str, now: str, wait: str, said: str | None
) -> None:
    there.jobs["m"] = tfjob(now)
    inputs = {**OLD, "wait": wait}
    call = Call(inputs=inputs, old_inputs=inputs, outputs={"state": recorded})
    change = TrainingRun().compare(call)
    assert bool(change) is (said is not None)
    assert not change.notes if said is None else note(change).startswith(said)


def test_a_tfjob_that_is_gone_says_what_to_do(there: FakeCluster) -> None:
    del there.jobs["m"]
    expected = "its TFJob is gone: `pulumi refresh`, then `pulumi up`, creates it again"
    assert note(compared()) == expected
    # Once a refresh has found it, the TFJob itself is to be created.
    assert note(compared("Absent")) == "its TFJob is gone: `pulumi up` creates it again"
    assert not compared("Succeeded")


def test_a_cluster_that_is_yet_to_be_made_is_not_asked() -> None:
    inputs = {**OLD, "connection": {"content": UNKNOWN}}
    call = Call(inputs=inputs, old_inputs=inputs, outputs={"state": "Running"})
    assert Connection().refusals(call) == []
    assert not TrainingRun().compare(call)
    assert TrainingRun().read(call) == {"state": "Running"}
    assert holds_unknown({"a": [{"b": UNKNOWN}]})
    assert not holds_unknown({"a": ["b", 1, None]})


def test_a_connection_that_cannot_be_made_is_refused_in_one_sentence() -> None:
    inputs = {"connection": NOWHERE, "namespace": "training", "requires": []}
    (said,) = Connection().refusals(Call(inputs=inputs))
    assert said == "the cluster's kubeconfig is no kubeconfig: it has no clusters and no contexts"


def test_nothing_is_deleted_while_the_cluster_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULUMI_K8S_DELETE_UNREACHABLE", raising=False)
    call = Call(inputs={"connection": NOWHERE})
    with pytest.raises(ProviderError) as error:
        DestroyGuard().delete(call)
    # Not what makes Pulumi forget all: it may well be there.
    assert str(error.value) == (
        "the cluster's kubeconfig is no kubeconfig: it has no clusters and no contexts; nothing "
        "was deleted"
    )
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    DestroyGuard().delete(call)
    TrainingRun().delete(Call(inputs={**OLD, **call.inputs}))


def test_a_job_whose_cluster_went_away_stays_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: Properties) -> None:
        raise UnreachableError("cluster dev cannot be reached: timed out")

    monkeypatch.setattr(training_run, "opened", away)
    call = Call(inputs=OLD, old_inputs=OLD, outputs={"state": "Running"})
    with pytest.raises(NotReady, match="m: cluster dev cannot be reached") as error:
        TrainingRun().update(call)
    assert error.value.outputs == {"state": "Running"}


def test_what_was_recorded_of_the_job_before_is_not_taken_for_the_new_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(_: Properties) -> None:
        raise UnreachableError("away")

    monkeypatch.setattr(training_run, "opened", away)
    call = Call(
        inputs={**OLD, "uid": "u2"},
        old_inputs={**OLD, "uid": "u1"},
        outputs={"state": "Succeeded", "uid": "u1"},
    )
    with pytest.raises(NotReady) as error:
        TrainingRun().update(call)
    assert error.value.outputs == {"state": "Unknown", "uid": "u1"}


def test_a_local_stack_does_not_load_what_only_a_cluster_needs() -> None:
    kinds = ["Machine", "Dataset", "Service", "Job"]
    script = (
        "import json, sys\nimport provider.server\nfrom provider.registry import kind_of\n"
        f"for kind in {kinds}: kind_of(f'acktraining:local:{{kind}}')\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    project = Path(__file__).resolve().parent.parent.parent
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=True
    )
    assert not {"kubernetes", "cluster", "yaml"} & set(json.loads(ran.stdout))


@pytest.mark.parametrize("name", ["Connection", "TrainingRun", "DestroyGuard"])
def test_the_kinds_are_known_and_load_no_client(name: str) -> None:
    assert kind_of(f"acktraining:cluster:{name}") is not None
    script = (
        "import sys\nfrom provider.registry import kind_of\n"
        f"kind_of('acktraining:cluster:{name}')\nprint('kubernetes' in sys.modules)"
    )
    project = Path(__file__).resolve().parent.parent.parent
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"
