"""The structure of a stack on a cluster, under Pulumi's mocks."""

from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

import config
import targets
from tests.test_stack import JOB, PROJECT, closed_loops
from toolchain.operator_manifests import ensure_operator_manifests

__all__ = ["closed_loops"]

STACK_LABEL = "organization.ack-training.test"


class Recorder(pulumi.runtime.Mocks):
    """Records what would be registered, and by which provider."""

    def __init__(self) -> None:
        self.resources: dict[str, dict[str, Any]] = {}
        self.providers: dict[str, str] = {}

    def new_resource(
        self, args: pulumi.runtime.MockResourceArgs
    ) -> tuple[str | None, dict[str, Any]]:
        name = f"{args.typ}::{args.name}"
        self.resources[name] = dict(args.inputs)
        self.providers[name] = str(args.provider)
        outputs = {**args.inputs, "state": "Running", "identity": "uid-of-the-cluster"}
        metadata = outputs.get("metadata")
        if isinstance(metadata, dict):
            outputs["metadata"] = {"name": f"{args.name}-0a1b2c3", **metadata}
        return f"{args.name}-id", outputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], None]:
        return {}, None


@pytest.fixture(scope="module", autouse=True)
def manifests() -> None:
    ensure_operator_manifests()


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    document = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "https://c.example:6443"}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    }
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document))
    return str(tmp_path / "kubeconfig")


def deploy(kubeconfig: str, **settings: Any) -> Recorder:
    recorder = Recorder()
    pulumi.runtime.set_mocks(
        recorder, project="ack-training", stack="test", preview=False, organization="organization"
    )
    base: dict[str, Any] = {
        "target": "kubernetes",
        "kubernetes": {"kubeconfig": kubeconfig},
        "storage": {"hostPath": "/srv/training"},
    }

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def run() -> None:
        stack = config.parse({**base, **settings}, project_directory=PROJECT)
        targets.deploy(stack, PROJECT)

    run()
    return recorder


def requirements(found: dict[str, dict[str, Any]]) -> list[str]:
    """What the stack asks of its cluster."""
    return [
        each.get("crd") or each.get("operator") or f"{each['verb']} {each['resource']}"
        for each in found["acktraining:cluster:Connection::connection"]["requires"]
    ]


def test_a_whole_stack(kubeconfig: str) -> None:
    found = deploy(kubeconfig, jobs={"m": JOB}).resources
    # Manifests of the operator's are tested where they are made.
    assert sorted(name for name in found if "training-operator" not in name) == [
        "ackTraining:infra:Cluster::cluster",
        "ackTraining:training:TrainingJob::m",
        "ackTraining:workloads:SharedStorage::shared-storage",
        "ackTraining:workloads:TensorBoard::tensorboard",
        "acktraining:cluster:Connection::connection",
        "acktraining:cluster:DestroyGuard::destroy-guard",
        "acktraining:cluster:SharedObject::kubeflow",
        "acktraining:cluster:SharedObject::tfjobs.kubeflow.org",
        "acktraining:cluster:SharedObject::training",
        "acktraining:cluster:TrainingRun::m",
        "acktraining:cluster:VolumeOffer::volume-offer",
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
        "::CustomResourceDefinition-tfjobs.kubeflow.org",
        "kubernetes:apps/v1:Deployment::tensorboard-deployment",
        "kubernetes:batch/v1:Job::dataset-mnist",
        "kubernetes:batch/v1:Job::folders",
        "kubernetes:core/v1:ConfigMap::m-code",
        "kubernetes:core/v1:ConfigMap::owners",
        "kubernetes:core/v1:ConfigMap::runtime",
        "kubernetes:core/v1:ConfigMap::volume-scripts",
        "kubernetes:core/v1:Namespace::kubeflow",
        "kubernetes:core/v1:Namespace::training",
        "kubernetes:core/v1:PersistentVolume::volume",
        "kubernetes:core/v1:PersistentVolumeClaim::claim",
        "kubernetes:core/v1:Service::tensorboard-service",
        "kubernetes:kubeflow.org/v1:TFJob::m",
        "kubernetes:networking.k8s.io/v1:NetworkPolicy::m-network",
        "kubernetes:networking.k8s.io/v1:NetworkPolicy::tensorboard-networkpolicy",
        "pulumi:providers:acktraining::cluster-pin",
        "pulumi:providers:kubernetes::kubernetes",
    ]


def test_every_object_goes_to_the_cluster_that_the_file_names(kubeconfig: str) -> None:
    recorder = deploy(kubeconfig, jobs={"m": JOB})
    provider = recorder.resources["pulumi:providers:kubernetes::kubernetes"]
    assert provider["kubeconfig"] == kubeconfig
    assert provider["context"] == "here"
    assert provider["clusterIdentifier"] == "uid-of-the-cluster"
    objects = {n: p for n, p in recorder.providers.items() if n.startswith("kubernetes:")}
    assert len(objects) > 20
    for name, used in objects.items():
        assert "pulumi:providers:kubernetes::kubernetes" in used, name


def test_every_object_says_whose_it_is(kubeconfig: str) -> None:
    for name, inputs in deploy(kubeconfig, jobs={"m": JOB}).resources.items():
        if name.startswith("kubernetes:"):
            assert inputs["metadata"]["labels"]["ack-training/stack"] == STACK_LABEL, name


def looked_for(found: dict[str, dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """By kind and name, what the stack looks for before it declares it."""
    groups = found["acktraining:cluster:Connection::connection"]["declares"]
    return {(group["kind"], name): group for group in groups for name in group["names"]}


def test_every_name_that_another_may_have_is_looked_for(kubeconfig: str) -> None:
    rich = {
        "env": {"TOKEN": {"value": "corn", "secret": True}},
        "program": JOB["program"],
        "worker": {"replicas": 2},
    }
    found = deploy(kubeconfig, jobs={"m": rich, "n": JOB}).resources
    named = {
        (name.split("::")[0].rpartition(":")[2], inputs["metadata"]["name"])
        for name, inputs in found.items()
        if name.startswith("kubernetes:") and "name" in inputs["metadata"]
    }
    # Of which the stack made by whom it may: others have TFJobs.
    anyones = {("CustomResourceDefinition", "tfjobs.kubeflow.org")}
    assert set(looked_for(found)) == named - anyones
    assert anyones < named


def test_names_are_looked_for_where_they_are(kubeconfig: str) -> None:
    groups = looked_for(deploy(kubeconfig, jobs={"m": JOB}).resources)
    paths = {kind: group["path"] for (kind, _), group in groups.items()}
    inside = "namespaces/training"
    assert paths["Namespace"] == "/api/v1/namespaces"
    assert paths["PersistentVolume"] == "/api/v1/persistentvolumes"
    assert paths["ConfigMap"] == f"/api/v1/{inside}/configmaps"
    assert paths["NetworkPolicy"] == f"/apis/networking.k8s.io/v1/{inside}/networkpolicies"
    assert paths["TFJob"] == f"/apis/kubeflow.org/v1/{inside}/tfjobs"
    assert paths["Role"] == "/apis/rbac.authorization.k8s.io/v1/namespaces/kubeflow/roles"
    assert paths["ClusterRole"] == "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.mark.parametrize(
    ("storage", "outlives"), [({"storageClass": "fast"}, True), ({"hostPath": "/a"}, False)]
)
def test_a_claim_that_a_destroy_keeps_is_taken_up_again(
    kubeconfig: str, storage: dict[str, Any], outlives: bool
) -> None:
    groups = looked_for(deploy(kubeconfig, storage=storage).resources)
    (claim,) = (group for (kind, _), group in groups.items() if kind.endswith("Claim"))
    assert claim.get("outlives", False) is outlives
    assert groups["Namespace", "training"]["shared"] is True


def test_without_an_operator_of_its_own_it_asks_for_one(kubeconfig: str) -> None:
    found = deploy(kubeconfig, jobs={"m": JOB}, operator={"install": False}).resources
    assert not [name for name in found if "training-operator" in name or "kubeflow" in name[:18]]
    assert requirements(found) == ["create namespaces", "tfjobs.kubeflow.org", "kubeflow"]
    assert requirements(deploy(kubeconfig, jobs={"m": JOB}).resources) == [
        "create namespaces",
        "create customresourcedefinitions",
        "create clusterroles",
    ]


def test_nothing_is_asked_for_jobs_that_are_not_there(kubeconfig: str) -> None:
    found = deploy(kubeconfig, operator={"install": False}).resources
    assert requirements(found) == ["create namespaces"]


def test_a_namespace_that_is_there_is_left_as_it_is(kubeconfig: str) -> None:
    settings = {"kubeconfig": kubeconfig, "createNamespace": False}
    found = deploy(kubeconfig, kubernetes=settings, operator={"install": False}).resources
    assert not [name for name in found if name.startswith("kubernetes:core/v1:Namespace")]
    assert requirements(found) == []
    assert not [name for name in found if name.startswith("acktraining:cluster:SharedObject")]


def test_secrets_are_a_secret_of_their_own(kubeconfig: str) -> None:
    env = {"TOKEN": {"value": "corn-4711", "secret": True}}
    found = deploy(kubeconfig, jobs={"m": {**JOB, "env": env}}).resources
    secret = found["kubernetes:core/v1:Secret::m-env"]
    assert secret["immutable"] is True
    assert "name" not in secret["metadata"]
    rest = {
        name: inputs for name, inputs in found.items() if name != "kubernetes:core/v1:Secret::m-env"
    }
    assert "corn-4711" not in str(rest)
    assert "m-env-0a1b2c3" in str(found["kubernetes:kubeflow.org/v1:TFJob::m"])
    assert found["acktraining:cluster:TrainingRun::m"]["secret"] == "m-env-0a1b2c3"


@pytest.mark.parametrize(
    ("storage", "kinds"),
    [
        ({"claim": "mine"}, []),
        ({"storageClass": "fast"}, ["PersistentVolumeClaim"]),
        ({"nfs": {"server": "10.0.0.5"}}, ["PersistentVolume", "PersistentVolumeClaim"]),
    ],
)
def test_shared_storage(kubeconfig: str, storage: dict[str, Any], kinds: list[str]) -> None:
    found = deploy(kubeconfig, storage=storage).resources
    declared = [name.split("::")[0].split(":")[-1] for name in found if "PersistentVolume" in name]
    assert sorted(declared) == kinds


def test_a_job_with_an_image_has_no_code_of_this_project(kubeconfig: str) -> None:
    job = {"image": "example.com/own:1", "command": ["train"], "worker": {"replicas": 2}}
    found = deploy(kubeconfig, jobs={"m": job}).resources
    assert "kubernetes:core/v1:ConfigMap::m-code" not in found
    assert found["acktraining:cluster:TrainingRun::m"]["command"] == ["train"]


def test_a_pool_that_grows_is_told_to_who_waits(kubeconfig: str) -> None:
    pools = {"a10": {"selector": {"pool": "a10"}, "min": 0, "max": 2}}
    job = {"program": JOB["program"], "worker": {"nodePool": "a10"}}
    found = deploy(kubeconfig, nodePools=pools, jobs={"m": job, "n": JOB}).resources
    assert found["acktraining:cluster:TrainingRun::m"]["autoscaled"] is True
    assert found["acktraining:cluster:TrainingRun::n"]["autoscaled"] is False


def test_files_of_the_operator_that_are_none_are_refused_in_one_line(
    kubeconfig: str, tmp_path: Path
) -> None:
    with pytest.raises(targets.UndeployableError, match=r"^ack-training:operator\.manifests: "):
        deploy(kubeconfig, operator={"manifests": str(tmp_path)})


def test_in_mainland_China_the_images_from_abroad_are_told(
    kubeconfig: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    monkeypatch.setattr(config.Stack, "region", "cn-hangzhou")
    deploy(kubeconfig)
    (line,) = told
    assert "ghcr.io/kubeflow/training-v1/training-operator" in line
    assert "make image MIRROR=1" in line
    deploy(kubeconfig, imageRegistry="registry.cn-hangzhou.aliyuncs.com/team")
    assert told == [line]
