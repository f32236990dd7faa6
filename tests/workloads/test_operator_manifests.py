"""The training operator's manifests, made of upstream's own files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolchain.operator_manifests import operator_manifests as released
from toolchain.versions import read_versions
from workloads.operator_manifests import Manifest, operator_manifests
from workloads.operator_rights import cluster_rules, namespace_rules, not_granted

UPSTREAM = released("dev")
IMAGE = "ghcr.io/kubeflow/training-v1/training-operator:v1-93c5489"


def made(
    folder: Path = UPSTREAM,
    *,
    namespace: str = "operators",
    image: Callable[[str], str] = lambda upstream: upstream,
    gang_scheduler: str | None = None,
) -> dict[str, Manifest]:
    """By kind: there is one of each."""
    manifests = operator_manifests(
        folder, namespace=namespace, image=image, gang_scheduler=gang_scheduler
    )
    by_kind = {manifest["kind"]: manifest for manifest in manifests}
    assert len(by_kind) == len(manifests)
    return by_kind


def upstream(name: str) -> Any:
    return yaml.safe_load((UPSTREAM / name).read_text())


def container(manifests: dict[str, Manifest]) -> dict[str, Any]:
    (only,) = manifests["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def found(content: Any, key: str) -> Iterator[Any]:
    """The values of `key` anywhere in `content`."""
    if isinstance(content, dict):
        yield from (value for name, value in content.items() if name == key)
        content = list(content.values())
    if isinstance(content, list):
        for child in content:
            yield from found(child, key)


def test_all_manifests_in_the_order_to_apply_them() -> None:
    assert {kind: manifest["metadata"]["name"] for kind, manifest in made().items()} == {
        "CustomResourceDefinition": "tfjobs.kubeflow.org",
        "ServiceAccount": "training-operator",
        "ClusterRole": "training-operator",
        "ClusterRoleBinding": "training-operator",
        "Role": "training-operator",
        "RoleBinding": "training-operator",
        "Service": "training-operator",
        "Secret": "training-operator-webhook-cert",
        "ValidatingWebhookConfiguration": "validator.training-operator.kubeflow.org",
        "Deployment": "training-operator",
    }
    kinds = list(made())
    assert (kinds[0], kinds[-1]) == ("CustomResourceDefinition", "Deployment")


def test_the_definition_is_upstreams() -> None:
    definition = upstream("base/crds/kubeflow.org_tfjobs.yaml")
    assert made()["CustomResourceDefinition"] == definition
    assert definition["spec"]["names"]["kind"] == "TFJob"


@pytest.mark.parametrize("namespace", ["kubeflow", "operators"])
def test_every_reference_is_to_the_namespace(namespace: str) -> None:
    manifests = made(namespace=namespace)
    named = {
        kind: set(found(manifest, "namespace"))
        for kind, manifest in manifests.items()
        if kind != "CustomResourceDefinition"
    }
    assert named == {kind: {namespace} for kind in named} | {"ClusterRole": set()}
    assert "namespace" not in manifests["ClusterRoleBinding"]["metadata"]
    assert "namespace" not in manifests["ValidatingWebhookConfiguration"]["metadata"]
    assert "namespace" not in manifests["CustomResourceDefinition"]["metadata"]


def test_the_deployment_differs_from_upstreams_in_what_is_ours_alone() -> None:
    deployment = made()["Deployment"]
    ours = {"image", "args", "securityContext", "resources"}
    expected = upstream("base/deployment.yaml")
    expected["metadata"]["namespace"] = "operators"
    probe = expected["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    probe |= {"initialDelaySeconds": 2, "periodSeconds": 2}
    pod = deployment["spec"]["template"]["spec"]
    expected_pod = expected["spec"]["template"]["spec"]
    pod.pop("securityContext")
    for each in (pod, expected_pod):
        each["containers"] = [
            {key: value for key, value in one.items() if key not in ours}
            for one in each["containers"]
        ]
    assert deployment == expected
    assert {"livenessProbe", "readinessProbe"} < pod["containers"][0].keys()


def test_upstreams_image_is_handed_over_with_its_tag() -> None:
    asked: list[str] = []

    def mirrored(image: str) -> str:
        asked.append(image)
        return "registry.example/mirror/training-operator:v1"

    assert (
        container(made(image=mirrored))["image"] == "registry.example/mirror/training-operator:v1"
    )
    assert asked == [IMAGE]


@pytest.mark.parametrize(
    ("gang_scheduler", "more"),
    [
        (None, []),
        ("volcano", ["--gang-scheduler-name=volcano"]),
        ("scheduler-plugins-scheduler", ["--gang-scheduler-name=scheduler-plugins-scheduler"]),
    ],
)
def test_tfjobs_alone_are_enabled(gang_scheduler: str | None, more: list[str]) -> None:
    args = container(made(gang_scheduler=gang_scheduler))["args"]
    assert args == ["--enable-scheme=tfjob", *more]


def test_the_pod_meets_the_restricted_standard() -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards"""
    manifests = made()
    pod = manifests["Deployment"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(manifests)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert [volume.keys() - {"name"} for volume in pod["volumes"]] == [{"secret"}]


def test_requests_and_limits_are_set() -> None:
    resources = container(made())["resources"]
    assert set(resources) == {"requests", "limits"}
    assert {"cpu", "memory"} == resources["requests"].keys()
    assert "memory" in resources["limits"]


def test_the_webhook_is_that_of_tfjobs_and_reaches_the_operator() -> None:
    manifests = made()
    (webhook,) = manifests["ValidatingWebhookConfiguration"]["webhooks"]
    (expected,) = [
        each
        for each in upstream("base/webhook/manifests.yaml")["webhooks"]
        if each["rules"][0]["resources"] == ["tfjobs"]
    ]
    service = manifests["Service"]
    name = service["metadata"]["name"]
    expected["clientConfig"]["service"] |= {"name": name, "namespace": "operators"}
    assert webhook == expected
    # A webhook without a port is asked at 443.
    (target,) = [each["targetPort"] for each in service["spec"]["ports"] if each["port"] == 443]
    assert target in [port["containerPort"] for port in container(manifests)["ports"]]
    labels = manifests["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_the_secret_is_the_one_that_is_mounted_and_may_be_written() -> None:
    manifests = made()
    secret = manifests["Secret"]
    assert not {"data", "stringData"} & secret.keys()
    name = secret["metadata"]["name"]
    (volume,) = manifests["Deployment"]["spec"]["template"]["spec"]["volumes"]
    assert volume["secret"]["secretName"] == name
    writing = [rule for rule in manifests["Role"]["rules"] if "update" in rule["verbs"]]
    assert [rule["resourceNames"] for rule in writing] == [[name]]


def test_the_rights_are_given_to_the_operators_account() -> None:
    manifests = made()
    account = manifests["ServiceAccount"]["metadata"]["name"]
    pod = manifests["Deployment"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == account
    for binding, role in (("ClusterRoleBinding", "ClusterRole"), ("RoleBinding", "Role")):
        (subject,) = manifests[binding]["subjects"]
        assert subject == {"kind": "ServiceAccount", "name": account, "namespace": "operators"}
        reference = manifests[binding]["roleRef"]
        assert (reference["kind"], reference["name"]) == (role, manifests[role]["metadata"]["name"])


def rights(rules: list[dict[str, Any]]) -> set[str]:
    return {
        f"{verb} {resource}" + "".join(f" {name}" for name in rule.get("resourceNames", ()))
        for rule in rules
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def reading(resource: str) -> set[str]:
    return {f"{verb} {resource}" for verb in ("get", "list", "watch")}


def test_in_every_namespace_the_operator_may_do_what_tfjobs_need() -> None:
    webhooks = "validatingwebhookconfigurations"
    assert rights(made()["ClusterRole"]["rules"]) == {
        *(
            reading("tfjobs")
            | {"delete tfjobs", "update tfjobs/status", "update tfjobs/finalizers"}
        ),
        *(reading("pods") | {"create pods", "delete pods", "patch pods"}),
        *(reading("services") | {"create services", "delete services"}),
        *("create events", "patch events"),
        *(reading(webhooks) | {f"update {webhooks} validator.training-operator.kubeflow.org"}),
        *reading("podgroups"),
    }


def test_secrets_are_read_in_the_operators_own_namespace_alone() -> None:
    assert rights(made()["Role"]["rules"]) == {
        *reading("secrets"),
        "update secrets training-operator-webhook-cert",
    }


@pytest.mark.parametrize(
    ("gang_scheduler", "groups"),
    [
        (None, []),
        ("volcano", ["scheduling.volcano.sh"]),
        ("Volcano", ["scheduling.volcano.sh"]),
        ("scheduler-plugins-scheduler", ["scheduling.x-k8s.io"]),
    ],
)
def test_pod_groups_are_written_for_a_gang_scheduler_alone(
    gang_scheduler: str | None, groups: list[str]
) -> None:
    rules = made(gang_scheduler=gang_scheduler)["ClusterRole"]["rules"]
    writing = [
        rule for rule in rules if rule["resources"] == ["podgroups"] and "create" in rule["verbs"]
    ]
    assert [group for rule in writing for group in rule["apiGroups"]] == groups


@pytest.mark.parametrize("gang_scheduler", [None, "volcano", "another"])
def test_no_right_is_given_that_upstream_does_not_give(gang_scheduler: str | None) -> None:
    granted = upstream("base/rbac/role.yaml")["rules"]
    manifests = made(gang_scheduler=gang_scheduler)
    ours = [*manifests["ClusterRole"]["rules"], *manifests["Role"]["rules"]]
    assert not_granted(ours, granted) == []
    assert not {"*"} & {word for rule in ours for words in rule.values() for word in words}


def test_what_is_not_granted_is_told() -> None:
    granted = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}]
    assert not_granted(namespace_rules("s"), granted) == ["watch secrets", "update secrets"]
    missing = not_granted(cluster_rules("w", None), [])
    assert "delete tfjobs.kubeflow.org" in missing
    assert "patch pods" in missing


def test_what_a_caller_does_with_the_manifests_does_not_show_in_the_next() -> None:
    first = made()
    container(first)["securityContext"]["capabilities"]["drop"].clear()
    container(first)["resources"]["limits"].clear()
    first["Role"]["metadata"]["labels"]["app"] = "mine"
    first["Role"]["rules"].clear()
    assert container(made())["securityContext"]["capabilities"]["drop"] == ["ALL"]
    assert container(made())["resources"]["limits"]
    assert made()["Role"]["metadata"]["labels"]["app"] == "training-operator"
    assert made()["RoleBinding"]["metadata"]["labels"]["app"] == "training-operator"
    assert made()["Role"]["rules"]


def test_these_are_the_manifests_of_the_pinned_version() -> None:
    assert UPSTREAM.parent.name.endswith(
        read_versions().modules["github.com/kubeflow/training-operator"]
    )
