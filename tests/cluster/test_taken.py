"""What others have under the names that a stack is to declare is left as it is."""

from typing import Any

import pytest

from config import parse
from tests.cluster.stacks import ClusterStack, sentences
from workloads.pods import Manifest
from workloads.shared_storage_spec import volume_name

OWN = "organization.ack-training.test"


def _object(kind: str, name: str, owner: str | None, **content: Any) -> Manifest:
    labels = {"ack-training/stack": owner} if owner else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": labels}} | (
        content
    )


@pytest.mark.parametrize("owner", [None, OWN], ids=["nobody's", "another backend's"])
def test_an_object_of_another_is_refused_and_left(stack: ClusterStack, owner: str | None) -> None:
    stack.configure(tensorboard={"enabled": True})
    stack.cluster.kubectl("create", "namespace", stack.namespace)
    ports = [{"port": 80}]
    for taken, hint in (
        (_object("ConfigMap", "ack-training-runtime", owner, data={"a": "b"}), "or delete that"),
        (_object("Service", "tensorboard", owner, spec={"ports": ports}), "tensorboard.enabled"),
    ):
        kind, name = taken["kind"], taken["metadata"]["name"]
        metadata = {**taken["metadata"], "namespace": stack.namespace}
        stack.cluster.apply({**taken, "metadata": metadata})
        uid = stack.get(kind, name)["metadata"]["uid"]
        refused = stack.workspace.up()
        assert refused.code != 0
        assert f"has {kind} {name} already, and it is of" in sentences(refused), refused
        assert hint in sentences(refused)
        assert stack.get(kind, name)["metadata"]["uid"] == uid
        stack.kubectl("delete", kind, name)


def test_a_volume_of_another_is_refused(stack: ClusterStack) -> None:
    stack.configure()
    settings = {
        "target": "kubernetes",
        "kubernetes": {"context": "x", "namespace": stack.namespace},
        "storage": {"hostPath": str(stack.volume)},
    }
    name = volume_name(parse(settings))
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteMany"],
        "hostPath": {"path": "/nowhere"},
        "storageClassName": "",
    }
    stack.cluster.apply(_object("PersistentVolume", name, None, spec=spec))
    try:
        refused = stack.workspace.preview()
        assert refused.code != 0
        assert f"has PersistentVolume {name} already" in sentences(refused), refused
    finally:
        stack.cluster.kubectl("delete", "persistentvolume", name)
