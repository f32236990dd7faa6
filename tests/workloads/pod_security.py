"""Pod Security Standards, as far as this project's pods could break them.

https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

BASELINE_CAPABILITIES = {
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
    *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
}
_RESTRICTED_VOLUMES = {
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral"),
    *("persistentVolumeClaim", "projected", "secret"),
}


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def baseline_faults(pod: dict[str, Any]) -> Iterator[str]:
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(key):
            yield key
    for volume in pod.get("volumes", []):
        if "hostPath" in volume:
            yield f"hostPath volume {volume['name']}"
    for container in containers(pod):
        security = container["securityContext"]
        if security.get("privileged"):
            yield f"{container['name']} is privileged"
        if set(security.get("capabilities", {}).get("add", [])) - BASELINE_CAPABILITIES:
            yield f"{container['name']} adds capabilities"


def restricted_faults(pod: dict[str, Any]) -> Iterator[str]:
    yield from baseline_faults(pod)
    for volume in pod.get("volumes", []):
        if not set(volume) - {"name"} <= _RESTRICTED_VOLUMES:
            yield f"volume {volume['name']}"
    whole = pod.get("securityContext", {})
    for container in containers(pod):
        name = container["name"]
        security = {**whole, **container["securityContext"]}
        if security.get("allowPrivilegeEscalation") is not False:
            yield f"{name} may escalate"
        if security.get("runAsNonRoot") is not True or security.get("runAsUser") == 0:
            yield f"{name} may be root"
        if security.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"{name} has no seccomp profile"
        capabilities = security.get("capabilities", {})
        added = set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}
        if "ALL" not in capabilities.get("drop", []) or added:
            yield f"{name} has capabilities"
