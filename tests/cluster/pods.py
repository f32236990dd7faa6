"""The smallest pods and services that tests need."""

from collections.abc import Mapping
from typing import Any


def pod(
    namespace: str,
    name: str,
    image: str,
    script: str,
    *,
    container: Mapping[str, Any] | None = None,
    spec: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A pod that runs `script` once; ends at once when it is deleted."""
    main = {"name": "main", "image": image, "command": ["sh", "-c", script]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [main | dict(container or {})],
            **(spec or {}),
        },
    }


def service(namespace: str, name: str, port: int, **spec: Any) -> dict[str, Any]:
    """A service that leads to the pod of its name."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"port": port}], **spec},
    }
