"""Whether a cluster has what a stack of training jobs needs of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError


@dataclass(frozen=True)
class Right:
    """What a user may be allowed to do. `group` is empty for the core API."""

    verb: str
    group: str
    resource: str


NEEDED = (
    *(Right(verb, "kubeflow.org", "tfjobs") for verb in ("get", "create", "patch", "delete")),
    *(Right(verb, "", "pods") for verb in ("get", "list")),
    Right("get", "", "pods/log"),
    Right("list", "", "events"),
    *(Right(verb, "", "configmaps") for verb in ("get", "create", "patch", "delete")),
)
"""To declare a job, to follow it, and to start it again."""

_TRIAL = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "TFJob",
    "metadata": {"name": "ack-training-trial"},
    "spec": {
        "tfReplicaSpecs": {
            "Worker": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "x"}]}}}
        }
    },
}


def unmet(cluster: Cluster, namespace: str, requires: Sequence[Mapping[str, Any]]) -> str | None:
    """The first requirement that the cluster does not meet, in a sentence; None when it meets all.

    Each of `requires` is `{"crd": "tfjobs.kubeflow.org", "hint": …}`; `{"operator": "kubeflow",
    "hint": …}`, by the namespace of an operator that must be at work already; or a right beyond
    those that every stack needs, `{"verb": "create", "group": "", "resource": "namespaces"}`.
    ClusterError when it cannot be asked.
    """
    rights = [
        Right(str(found["verb"]), str(found.get("group") or ""), str(found["resource"]))
        for found in requires
        if "verb" in found
    ]
    missing = _missing(cluster, namespace, [*NEEDED, *rights])
    if missing:
        return (
            f"{cluster.name} does not allow its user to {_listed(missing)} in namespace "
            f"{namespace}: it needs a Role with these rights"
        )
    for found in requires:
        hint = f": {found['hint']}" if found.get("hint") else ""
        if "crd" in found and not _has_crd(cluster, str(found["crd"])):
            return f"{cluster.name} has no {found['crd']}{hint}"
        if "operator" in found and not _is_operator_up(cluster, namespace):
            return (
                f"{cluster.name}: the training operator in namespace {found['operator']} does not "
                f"answer{hint}"
            )
    return None


def authenticate(cluster: Cluster) -> None:
    """Returns when the cluster answers and accepts the user; ClusterError when not."""
    _rules(cluster, "default")


def _missing(cluster: Cluster, namespace: str, rights: Sequence[Right]) -> list[Right]:
    """One question for all of them; and one more for each that its answer does not show, which may
    be incomplete where something else than RBAC decides."""
    rules = _rules(cluster, namespace)
    return [
        right
        for right in rights
        if not any(_allows(rule, right) for rule in rules) and not _may(cluster, namespace, right)
    ]


def _rules(cluster: Cluster, namespace: str) -> list[Mapping[str, Any]]:
    review = cluster.post(
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectRulesReview",
            "spec": {"namespace": namespace},
        },
    )
    return list((review.get("status") or {}).get("resourceRules") or [])


def _may(cluster: Cluster, namespace: str, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    review = cluster.post(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {
                "resourceAttributes": {
                    "namespace": namespace,
                    "verb": right.verb,
                    "group": right.group,
                    "resource": resource,
                    "subresource": subresource,
                }
            },
        },
    )
    return bool((review.get("status") or {}).get("allowed"))


def _allows(rule: Mapping[str, Any], right: Right) -> bool:
    def has(key: str, *wanted: str) -> bool:
        return bool({"*", *wanted} & set(rule.get(key) or []))

    return (
        has("verbs", right.verb)
        and has("apiGroups", right.group)
        and has("resources", right.resource)
        and not rule.get("resourceNames")
    )


def _has_crd(cluster: Cluster, name: str) -> bool:
    """By what the API server offers, which everyone may ask; to read the CRD is a right."""
    plural, _, group = name.partition(".")
    return any(plural == found for found in _resources(cluster, group))


def _is_operator_up(cluster: Cluster, namespace: str) -> bool:
    """Whether its webhook looks at a TFJob; nothing is created."""
    try:
        cluster.post(f"/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs", _TRIAL, dryRun="All")
    except RefusedError as error:
        # No namespace yet, or no TFJobs for other reasons, is nothing to tell of the operator.
        return "failed calling webhook" not in str(error)
    return True


def _resources(cluster: Cluster, group: str) -> Iterator[str]:
    try:
        versions = cluster.get(f"/apis/{group}")["versions"]
        for version in versions:
            for found in cluster.get(f"/apis/{version['groupVersion']}")["resources"]:
                yield str(found["name"])
    except RefusedError as error:
        if not error.not_found:
            raise


def _listed(rights: Sequence[Right]) -> str:
    """`create and delete tfjobs, list events`."""
    verbs: dict[str, list[str]] = {}
    for right in rights:
        named = f"{right.resource}.{right.group}" if right.group else right.resource
        verbs.setdefault(named, []).append(right.verb)
    return ", ".join(f"{_and(found)} {resource}" for resource, found in verbs.items())


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
