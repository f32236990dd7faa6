"""What a stack says of a real cluster that it cannot use."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from provider.cluster.connection import Connection
from provider.cluster.destroy_guard import DestroyGuard
from provider.kinds import Call, ProviderError
from tests.cluster.handle import Cluster


def refusals(kubeconfig: Path, *requires: dict[str, Any]) -> list[str]:
    inputs = {
        "connection": {"kubeconfig": str(kubeconfig)},
        "namespace": "default",
        "requires": list(requires),
    }
    return Connection().refusals(Call(inputs=inputs))


def test_a_cluster_that_has_it_all_is_accepted(cluster: Cluster) -> None:
    assert refusals(cluster.kubeconfig) == []
    # Of what every Kubernetes has.
    assert refusals(cluster.kubeconfig, {"crd": "deployments.apps"}) == []
    DestroyGuard().delete(Call(inputs={"connection": {"kubeconfig": str(cluster.kubeconfig)}}))


def test_a_definition_that_is_missing_is_told_with_its_hint(cluster: Cluster) -> None:
    (said,) = refusals(cluster.kubeconfig, {"crd": "nojobs.example.org", "hint": "install it"})
    assert said.endswith(" has no nojobs.example.org: install it")


def test_a_user_without_rights_is_told_which(cluster: Cluster) -> None:
    (said,) = refusals(cluster.user("nobody-in-particular"))
    assert "does not allow its user to get, create, patch and delete tfjobs.kubeflow.org" in said
    assert said.endswith(" in namespace default: it needs a Role with these rights")


def test_another_authority_is_told(cluster: Cluster, tmp_path: Path) -> None:
    # A certificate, and not of this cluster's authority.
    own = yaml.safe_load(cluster.user("another").read_text())
    certificate = own["users"][0]["user"]["client-certificate-data"]
    assert base64.b64decode(certificate).startswith(b"-----BEGIN CERTIFICATE")
    found = yaml.safe_load(cluster.kubeconfig.read_text())
    found["clusters"][0]["cluster"]["certificate-authority-data"] = certificate
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(found))
    (said,) = refusals(file)
    assert " cannot be reached: its TLS certificate is not trusted: " in said


def test_a_token_that_is_not_accepted_is_told(cluster: Cluster, tmp_path: Path) -> None:
    found = yaml.safe_load(cluster.kubeconfig.read_text())
    found["users"][0]["user"] = {"token": "expired"}
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(found))
    (said,) = refusals(file)
    assert "does not accept the credentials of the kubeconfig (401)" in said
    with pytest.raises(ProviderError, match="; nothing was deleted"):
        DestroyGuard().delete(Call(inputs={"connection": {"kubeconfig": str(file)}}))
