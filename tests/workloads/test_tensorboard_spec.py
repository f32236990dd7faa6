"""TensorBoard on a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from config import parse
from workloads.pods import Manifest
from workloads.tensorboard_spec import tensorboard_specs


def specs(settings: dict[str, Any] | None = None, **sections: Any) -> dict[str, Manifest]:
    base: dict[str, Any] = {
        "target": "kubernetes",
        "kubernetes": {"context": "a", "namespace": "research"},
        "storage": {"claim": "data"},
        "tensorboard": settings or {},
    }
    return tensorboard_specs(parse({**base, **sections}))


def pod(settings: dict[str, Any] | None = None, **sections: Any) -> Manifest:
    found: Manifest = specs(settings, **sections)["Deployment"]["spec"]["template"]["spec"]
    return found


def test_every_run_is_followed_whoever_wrote_its_files() -> None:
    """One run a job and role, as each writes into a folder of its own; and a job that was resumed
    has written several files there."""
    (container,) = pod({"reloadInterval": "30s"})["containers"]
    command = container["command"]
    assert "--logdir=/training" in command
    assert "--reload_multifile=true" in command
    assert "--reload_interval=30" in command


@pytest.mark.parametrize(("written", "path"), [("tb/", "/tb"), ("/tb", "/tb"), ("", "")])
def test_the_path_prefix_is_what_is_probed(written: str, path: str) -> None:
    (container,) = pod({"pathPrefix": written})["containers"]
    assert f"--path_prefix={path}" in container["command"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] == f"{path}/data/environment"


def test_it_is_for_the_cluster_alone_unless_a_key_opens_it() -> None:
    found = specs()
    assert found["Service"]["spec"]["type"] == "ClusterIP"
    (rule,) = found["NetworkPolicy"]["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {}}]
    assert found["NetworkPolicy"]["spec"]["egress"] == []
    opened = specs({"serviceType": "LoadBalancer"})
    assert opened["Service"]["spec"]["type"] == "LoadBalancer"
    (rule,) = opened["NetworkPolicy"]["spec"]["ingress"]
    assert "from" not in rule


def test_the_policy_and_the_service_are_of_its_pods() -> None:
    found = specs()
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for selector in (
        found["Deployment"]["spec"]["selector"]["matchLabels"],
        found["Service"]["spec"]["selector"],
        found["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ):
        assert selector
        assert selector.items() <= labels.items()


def test_it_can_only_read_and_has_no_rights() -> None:
    found = pod()
    (container,) = found["containers"]
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    assert mounts["shared"]["readOnly"] is True
    assert found["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert found["automountServiceAccountToken"] is False


def test_ports_sizes_and_images() -> None:
    found = specs(
        {"port": 7007, "cpu": 2, "memory": "4Gi"},
        imageRegistry="example.com/team",
        imagePullSecrets=["registry"],
    )
    spec = found["Deployment"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert found["Service"]["spec"]["ports"] == [
        {"name": "http", "port": 7007, "targetPort": "http"}
    ]
    assert "--port=7007" in container["command"]
    assert container["resources"] == {
        "requests": {"cpu": "2", "memory": "4Gi"},
        "limits": {"memory": "4Gi"},
    }
    assert container["image"].startswith("example.com/team/ack-training-cpu:")
    assert spec["imagePullSecrets"] == [{"name": "registry"}]


def test_names_and_namespace() -> None:
    for manifest in specs().values():
        assert manifest["metadata"]["name"] == "tensorboard"
        assert manifest["metadata"]["namespace"] == "research"
