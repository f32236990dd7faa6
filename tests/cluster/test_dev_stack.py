"""The stack of README on a real control plane: the operator, the shared volume, TensorBoard, and
distributed-mnist with real TensorFlow in its pods."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.roles import in_order, replica_name
from tests.cluster.handle import Cluster
from tests.cluster.stacks import ClusterStack, stack_on, summary
from training.tf_config import cluster_address, tf_config

JOB: dict[str, Any] = {
    "program": "training/programs/mnist.py",
    "strategy": "parameterServer",
    "chief": {"memory": "2Gi"},
    "worker": {"replicas": 2, "memory": "2Gi"},
    "ps": {"replicas": 2, "memory": "2Gi"},
    "evaluator": {"memory": "2Gi"},
    "args": ["--steps=400", "--checkpoint-every=200"],
    "deadline": "1h",
    "export": {},
    "env": {"GREETING": {"value": "corn-4711", "secret": True}},
}
COUNTS = {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1}
MNIST = {"mnist": {"source": "sample"}}
BOARD = {"pathPrefix": "tb/"}


def configure(stack: ClusterStack, **job: Any) -> None:
    """With Pod Security "restricted" enforced, where the volume's folder is there already."""
    own = stack.cluster.place is not None
    stack.configure(
        kubernetes=stack.connection(podSecurity="restricted" if own else "baseline"),
        jobs={"distributed-mnist": {**JOB, **job}},
        datasets=MNIST,
        tensorboard=BOARD,
    )


@pytest.fixture(scope="module")
def dev(operated: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterStack]:
    """The stack, up, with its job running."""
    with stack_on(operated, tmp_path_factory.mktemp("dev") / "project") as stack:
        configure(stack)
        up = stack.workspace.up()
        assert up.code == 0, up
        assert stack.workspace.outputs()["jobs"]["distributed-mnist"]["state"] in (
            "Running",
            "Succeeded",
        )
        yield stack


def in_tensorboard(stack: ClusterStack, code: str) -> Any:
    """What Python code prints, as JSON, in the pod that reads the whole shared volume."""
    text = stack.kubectl("exec", "deployment/tensorboard", "--", "python", "-c", code)
    return json.loads(text)


def result(stack: ClusterStack) -> dict[str, Any]:
    path = "/training/distributed-mnist/checkpoints/run-1/result.json"
    found: dict[str, Any] = in_tensorboard(stack, f"print(open({path!r}).read())")
    return found


def test_every_pod_has_the_very_TF_CONFIG_that_local_computes(dev: ClusterStack) -> None:
    pods = dev.pods("distributed-mnist")
    address = cluster_address("distributed-mnist", dev.namespace)
    assert len(pods) == sum(COUNTS.values())
    for role, index in in_order(COUNTS):  # type: ignore[arg-type]
        (container,) = pods[replica_name("distributed-mnist", role, index)]["spec"]["containers"]
        found = {variable["name"]: variable.get("value") for variable in container["env"]}
        assert found["TF_CONFIG"] == tf_config(COUNTS, role, index, address)  # type: ignore[arg-type]


def test_what_is_secret_is_in_no_manifest_and_no_state(dev: ClusterStack) -> None:
    pods = json.dumps(dev.get("pods"))
    assert "secretKeyRef" in pods
    assert "corn-4711" not in pods
    assert "corn-4711" not in json.dumps(dev.tfjob("distributed-mnist"))
    assert "corn-4711" not in dev.workspace.exported()
    assert "corn-4711" not in dev.workspace.preview().text


def test_it_trains_to_the_end_and_exports(dev: ClusterStack) -> None:
    configure(dev, wait="succeeded")
    up = dev.workspace.up()
    assert up.code == 0, up
    assert "step 400 of 400, on held-out data" in up.text
    found = result(dev)
    assert found["step"] == 400
    assert found["accuracy"] >= 0.95
    exported = in_tensorboard(
        dev,
        "import json,os; print(json.dumps(sorted(os.listdir("
        "'/training/distributed-mnist/export/1'))))",
    )
    assert {"saved_model.pb", "variables"} <= set(exported)


def test_tensorboard_serves_a_run_for_each_role_below_its_prefix(dev: ClusterStack) -> None:
    url = "http://127.0.0.1:6006/tb/data/runs"
    code = f"from urllib.request import urlopen; print(urlopen({url!r}).read().decode())"
    runs = in_tensorboard(dev, code)
    logs = "distributed-mnist/logs"
    assert {f"{logs}/chief/run-1", f"{logs}/evaluator/run-1"} <= set(runs)
    assert dev.workspace.outputs()["tensorboard"] == (
        f"http://tensorboard.{dev.namespace}.svc:6006/tb/"
    )


def test_a_second_up_and_a_refresh_change_nothing(dev: ClusterStack) -> None:
    for again in (dev.workspace.up(), dev.workspace.refresh(), dev.workspace.preview()):
        assert again.code == 0, again
        assert "change" not in summary(again).replace("unchanged", ""), again
    assert dev.condition("distributed-mnist") == "Succeeded"


def test_nothing_was_refused_by_pod_security(dev: ClusterStack) -> None:
    if dev.cluster.place is not None:
        labels = dev.cluster.get("namespace", dev.namespace)["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    events = dev.get("events")["items"]
    assert [event["message"] for event in events if "PodSecurity" in event["message"]] == []


def test_another_size_resumes_from_the_checkpoint(dev: ClusterStack) -> None:
    larger = {"worker": {"replicas": 3, "memory": "2Gi"}}
    steps = ["--steps=500", "--checkpoint-every=200"]
    configure(dev, wait="succeeded", args=steps, **larger)
    preview = dev.workspace.preview()
    assert "+-kubernetes:kubeflow.org/v1:TFJob: (replace)" in preview.text, preview
    assert (
        "worker 2 → 3, args --steps=400 → --steps=500: deleted and created again; training resumes "
        "from its last checkpoint and goes on from step 400 to 500"
    ) in preview.text
    up = dev.workspace.up()
    assert up.code == 0, up
    log = dev.log("distributed-mnist-chief-0")
    assert "continues from /training/distributed-mnist/checkpoints/run-1/ckpt-400" in log
    assert result(dev)["step"] == 500
    chief = dev.pods("distributed-mnist")["distributed-mnist-chief-0"]
    (container,) = chief["spec"]["containers"]
    (found,) = [each["value"] for each in container["env"] if each["name"] == "TF_CONFIG"]
    assert len(json.loads(found)["cluster"]["worker"]) == 3


def test_destroy_removes_all_and_leaves_the_data(dev: ClusterStack) -> None:
    destroyed = dev.workspace.destroy()
    assert destroyed.code == 0, destroyed
    assert "NotFound" in dev.cluster.run("get", "namespace", dev.namespace).stderr
    assert dev.volumes() == []
    if dev.cluster.place is not None:
        job = Path(dev.volume, "distributed-mnist")
        assert sorted(path.name for path in (job / "export").iterdir()) == ["1", "2"]
        assert list((job / "checkpoints/run-1").glob("ckpt-500.index"))
        assert (dev.volume / "datasets/mnist/mnist-5k.npz").is_file()
