"""What the training operator may do: no more than it does for TFJobs, and never more than upstream
gives it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Rule = dict[str, Any]

VOLCANO = "volcano"
"""The gang scheduler that the operator knows by name; it takes any other for scheduler-plugins."""

_READ = ("get", "list", "watch")
_GANG_GROUPS = ("scheduling.volcano.sh", "scheduling.x-k8s.io")


def cluster_rules(webhook_configuration: str, gang_scheduler: str | None) -> list[Rule]:
    """The operator's rules in every namespace: jobs may be in any."""
    rules = [
        # `delete` is for `ttlSecondsAfterFinished`.
        _rule("kubeflow.org", "tfjobs", (*_READ, "delete")),
        _rule("kubeflow.org", "tfjobs/status", ("update",)),
        # Pods and services name their job as an owner that waits for them; for that, the admission
        # plugin OwnerReferencesPermissionEnforcement asks for this.
        _rule("kubeflow.org", "tfjobs/finalizers", ("update",)),
        # `patch` is for adopting pods that carry a job's labels.
        _rule("", "pods", (*_READ, "create", "delete", "patch")),
        _rule("", "services", (*_READ, "create", "delete")),
        _rule("", "events", ("create", "patch")),
        # Kept as a cache of all, which no rule by name allows.
        _rule("admissionregistration.k8s.io", "validatingwebhookconfigurations", _READ),
        _rule(
            "admissionregistration.k8s.io",
            "validatingwebhookconfigurations",
            ("update",),
            [webhook_configuration],
        ),
        # Watched wherever the cluster has the kind, gang scheduling or not.
        *(_rule(group, "podgroups", _READ) for group in _GANG_GROUPS),
    ]
    if gang_scheduler:
        group = _GANG_GROUPS[gang_scheduler.lower() != VOLCANO]
        rules.append(_rule(group, "podgroups", ("create", "delete", "update")))
    return rules


def namespace_rules(secret: str) -> list[Rule]:
    """The operator's rules in its own namespace, where it keeps its webhook's certificate."""
    return [
        # Kept as a cache of all, which no rule by name allows.
        _rule("", "secrets", _READ),
        _rule("", "secrets", ("update",), [secret]),
    ]


def not_granted(wanted: Iterable[Rule], granted: Sequence[Mapping[str, Any]]) -> list[str]:
    """What of `wanted` the rules `granted` leave out, as `update secrets`."""
    given = {
        (group, resource, verb)
        for rule in granted
        for group in rule.get("apiGroups") or ()
        for resource in rule.get("resources") or ()
        for verb in rule.get("verbs") or ()
    }
    asked = [
        (group, resource, verb)
        for rule in wanted
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]
    return [
        f"{verb} {resource}{group and f'.{group}'}"
        for group, resource, verb in asked
        if (group, resource, verb) not in given
    ]


def _rule(group: str, resource: str, verbs: Sequence[str], names: Sequence[str] = ()) -> Rule:
    rule: Rule = {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
    return {**rule, "resourceNames": list(names)} if names else rule
