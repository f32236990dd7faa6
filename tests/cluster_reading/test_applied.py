"""What was declared, out of what the API server made of it."""

import json
from typing import Any

import pytest

from cluster.applied import applied

OWN: dict[str, Any] = {
    "f:metadata": {"f:annotations": {"f:mine": {}}},
    "f:spec": {
        "f:runPolicy": {"f:suspend": {}},
        "f:tfReplicaSpecs": {
            "f:Worker": {
                "f:replicas": {},
                "f:template": {
                    "f:spec": {
                        "f:containers": {
                            'k:{"name":"tensorflow"}': {
                                ".": {},
                                "f:command": {},
                                "f:name": {},
                                "f:ports": {
                                    'k:{"containerPort":2222,"protocol":"TCP"}': {
                                        ".": {},
                                        "f:containerPort": {},
                                    }
                                },
                                "f:resources": {"f:limits": {"f:memory": {}}},
                            }
                        },
                        "f:volumes": {'k:{"name":"tmp"}': {".": {}, "f:emptyDir": {}}},
                        "f:finalizers": {'v:"a"': {}},
                    }
                },
            }
        },
    },
}

LIVE: dict[str, Any] = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "TFJob",
    "metadata": {
        "name": "m",
        "namespace": "training",
        "uid": "1",
        "resourceVersion": "7",
        "annotations": {"mine": "1", "anothers": "2"},
        "managedFields": [
            {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:x": {}}}},
            {"manager": "edited", "operation": "Update", "fieldsV1": OWN},
            {"manager": "owner", "operation": "Apply", "fieldsV1": OWN},
            {"manager": "operator", "operation": "Apply", "subresource": "status", "fieldsV1": OWN},
        ],
    },
    "spec": {
        "runPolicy": {"suspend": False, "cleanPodPolicy": "Running"},
        "tfReplicaSpecs": {
            "Worker": {
                "replicas": 2,
                "template": {
                    "spec": {
                        "containers": [
                            {"name": "sidecar", "image": "anothers"},
                            {
                                "name": "tensorflow",
                                "command": ["sh", "-c"],
                                "ports": [{"containerPort": 2222, "protocol": "TCP", "name": "n"}],
                                "resources": {"limits": {"memory": "1Gi", "cpu": "1"}},
                                "imagePullPolicy": "Always",
                            },
                        ],
                        "volumes": [{"name": "tmp", "emptyDir": {}}],
                        "finalizers": ["a", "b"],
                    }
                },
            }
        },
    },
    "status": {"conditions": []},
}


def test_the_declared_part_is_what_the_owner_manages() -> None:
    found = applied(LIVE)
    assert (found.manager, found.by_apply) == ("owner", True)
    assert found.manifest == {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": "m", "namespace": "training", "annotations": {"mine": "1"}},
        "spec": {
            "runPolicy": {"suspend": False},
            "tfReplicaSpecs": {
                "Worker": {
                    "replicas": 2,
                    "template": {
                        "spec": {
                            "containers": [
                                {
                                    "name": "tensorflow",
                                    "command": ["sh", "-c"],
                                    "ports": [{"containerPort": 2222, "protocol": "TCP"}],
                                    "resources": {"limits": {"memory": "1Gi"}},
                                }
                            ],
                            "volumes": [{"name": "tmp", "emptyDir": {}}],
                            "finalizers": ["a"],
                        }
                    },
                }
            },
        },
    }


def test_an_object_that_was_created_as_a_whole_has_an_owner_too() -> None:
    live = json.loads(json.dumps(LIVE))
    del live["metadata"]["managedFields"][2]
    found = applied(live)
    assert (found.manager, found.by_apply) == ("edited", False)


def test_what_nobody_declared_is_refused() -> None:
    with pytest.raises(ValueError, match="nobody manages its tfReplicaSpecs"):
        applied({**LIVE, "metadata": {"name": "m", "namespace": "training"}})


def test_lists_stay_in_their_order() -> None:
    """A FieldsV1 has its keys in the order of their text."""
    live = json.loads(json.dumps(LIVE))
    worker = live["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
    names = ["tmp", "data", "zoo", "code"]
    worker["volumes"] = [{"name": name, "emptyDir": {}} for name in names]
    worker["finalizers"] = ["z", "a"]
    fields = json.loads(json.dumps(OWN))
    mine = fields["f:spec"]["f:tfReplicaSpecs"]["f:Worker"]["f:template"]["f:spec"]
    mine["f:volumes"] = {
        f'k:{{"name":"{name}"}}': {".": {}, "f:emptyDir": {}, "f:name": {}}
        for name in sorted(names)
    }
    mine["f:finalizers"] = {'v:"a"': {}, 'v:"z"': {}}
    live["metadata"]["managedFields"][2]["fieldsV1"] = fields
    found = applied(live).manifest["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
    assert [volume["name"] for volume in found["volumes"]] == names
    assert found["finalizers"] == ["z", "a"]
