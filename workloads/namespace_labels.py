"""The labels of the stack's namespaces."""

from __future__ import annotations

from config.stack import Stack
from workloads.pods import MANAGED_BY

_PREFIX = "pod-security.kubernetes.io"


def jobs_namespace_labels(stack: Stack) -> dict[str, str]:
    """Pod Security is enforced as configured, and what is not "restricted" is warned of.

    https://kubernetes.io/docs/concepts/security/pod-security-admission/
    """
    return {
        **MANAGED_BY,
        f"{_PREFIX}/enforce": stack.kubernetes.pod_security,
        f"{_PREFIX}/warn": "restricted",
    }


def operator_namespace_labels() -> dict[str, str]:
    """Nothing is enforced: other parts of Kubeflow may live there too."""
    return {**MANAGED_BY, f"{_PREFIX}/warn": "restricted"}
