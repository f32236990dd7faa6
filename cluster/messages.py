"""The messages of Kubernetes' parts, shortened to what they mean to the owner of a job."""

from __future__ import annotations

import re

_LONG = 400
"""Characters: enough for every cause met so far; a webhook may send a page."""

# "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption:
# 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
_PREEMPTION = re.compile(r"[.,;]?\s*(no new claims to deallocate|preemption:).*$", re.DOTALL)

_FINAL_OF_REGISTRY = re.compile(
    r"not found|manifest unknown|name unknown|access denied|unauthori[sz]ed|authorization failed|"
    r"authentication required|forbidden|does not exist|invalid reference|"
    r"no match for platform|no basic auth credentials|InvalidImageName|"
    r"not present with pull policy of Never|ErrImageNeverPull|SignatureValidationFailed",
    re.IGNORECASE,
)

_FINAL_OF_MOUNT = re.compile(
    r'(configmap|secret) "[^"]*" not found|references non-existent|hostPath type check failed|'
    r"access denied by server|No such file or directory|wrong fs type",
    re.IGNORECASE,
)


def of_scheduler(message: str) -> str:
    """`0/3 nodes are available: 3 Insufficient nvidia.com/gpu`."""
    message = _PREEMPTION.sub("", message)
    # A volume that is missing is told twice.
    return _short(re.sub(r"\. not found$", "", message)) or "the scheduler gives no reason"


def of_autoscaler(message: str) -> str:
    return _short(re.sub(r"^pod didn't trigger scale-up:? ?", "", message)) or "no reason given"


def of_registry(message: str) -> str:
    """Without the kubelet's and the container runtime's words around the registry's."""
    message = re.sub(r'^Back-off pulling image "[^"]*"(: )?', "", message)
    message = re.sub(r'^Failed to pull image "[^"]*": ', "", message)
    message = re.sub(r"^ErrImagePull: ", "", message)
    message = re.sub(r"rpc error: code = \w+ desc = ", "", message)
    message = re.sub(r'^failed to pull and unpack image "[^"]*": ', "", message)
    message = re.sub(r'^failed to resolve (?:reference|image) "[^"]*": ', "", message)
    message = re.sub(r"^failed to do request: ", "", message)
    return _short(message)


def of_kubelet(message: str) -> str:
    """Without the runtime's account of how it came to know."""
    found = re.search(r"(exec: \"[^\"]*\": .*?)(: unknown)?$", message)
    if found:
        return _short(found[1])
    found = re.search(r"OCI runtime create failed: (?:runc create failed: )?(.*)$", message)
    message = found[1] if found else message
    message = re.sub(r"rpc error: code = \w+ desc = ", "", message)
    message = re.sub(r" \(pod: \"[^)]*\)[^)]*\)$", "", message)
    return _short(re.sub(r": unknown$", "", message))


def is_final_of_registry(message: str) -> bool:
    """Whether the registry has answered, and another try would get the same answer."""
    return bool(_FINAL_OF_REGISTRY.search(message))


def is_about_volume(message: str) -> bool:
    """Whether the scheduler waits for a volume, which may be on its way."""
    return bool(re.search(r"persistentvolumeclaim|PersistentVolumeClaim|VolumeBinding", message))


def is_missing_claim(message: str) -> bool:
    """Whether a PersistentVolumeClaim is not there at all."""
    return bool(re.search(r'persistentvolumeclaim "[^"]*" not found', message))


def is_final_of_mount(message: str) -> bool:
    """Whether a volume will not be had by trying again: what it is of is not there, or refuses."""
    return bool(_FINAL_OF_MOUNT.search(message))


def is_start(message: str) -> bool:
    """Whether an event of reason Failed tells of a container that could not be started, and not of
    its image or of what configures it."""
    return bool(re.search(r"^Error: failed to (create|start)\b|OCI runtime create failed", message))


def is_cache(message: str) -> bool:
    """Whether the kubelet is behind with what it knows of Secrets and ConfigMaps."""
    return "failed to sync" in message


def is_slowness(message: str) -> bool:
    """Whether the container runtime was too slow, and will be asked again."""
    return "context deadline exceeded" in message or "failed to reserve container name" in message


def _short(message: str) -> str:
    text = " ".join(message.split()).rstrip(".")
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
