"""TensorBoard on a cluster: over the logs of every job, which it can only read."""

from __future__ import annotations

from config.stack import Stack
from workloads.images import default_image
from workloads.pods import (
    MANAGED_BY,
    SHARED_PATH,
    SHARED_VOLUME,
    Manifest,
    container_security,
    pod_settings,
    scratch_volume,
    shared_volume,
)
from workloads.shared_storage_spec import claim_name

NAME = "tensorboard"
DEFAULT_PORT = 6006
_LABELS = {"app.kubernetes.io/name": NAME}


def tensorboard_port(stack: Stack) -> int:
    """The port of the Service and of the pod."""
    return stack.tensorboard.port or DEFAULT_PORT


def tensorboard_specs(stack: Stack) -> dict[str, Manifest]:
    """Deployment, Service and NetworkPolicy by kind. The policy lets pods of the namespace in, and
    with a Service that is open to others also those; a cluster whose network knows no policies
    ignores it. `make tensorboard` comes in by the node, which no policy stops."""
    return {
        "Deployment": _deployment(stack),
        "Service": _service(stack),
        "NetworkPolicy": _network_policy(stack),
    }


def _metadata(stack: Stack) -> Manifest:
    return {
        "name": NAME,
        "namespace": stack.kubernetes.namespace,
        "labels": {**MANAGED_BY, **_LABELS},
    }


def _deployment(stack: Stack) -> Manifest:
    settings, port = stack.tensorboard, tensorboard_port(stack)
    probe = {"httpGet": {"path": f"{settings.path_prefix}/data/environment", "port": port}}
    memory = str(settings.memory)
    container: Manifest = {
        "name": NAME,
        "image": default_image(0, stack.image_registry),
        "command": [
            *("python", "-m", "tensorboard.main"),
            f"--logdir={SHARED_PATH}",
            "--host=0.0.0.0",
            f"--port={port}",
            f"--path_prefix={settings.path_prefix}",
            f"--reload_interval={int(settings.reload_interval.total_seconds())}",
            # A job that was resumed has written several event files.
            # https://github.com/tensorflow/tensorboard/issues/1011
            "--reload_multifile=true",
        ],
        "env": [{"name": "HOME", "value": "/tmp"}],
        "ports": [{"name": "http", "containerPort": port}],
        # TensorFlow takes seconds to import, and 43 were seen on a busy machine.
        "startupProbe": {**probe, "periodSeconds": 2, "failureThreshold": 150},
        "readinessProbe": {**probe, "periodSeconds": 10, "timeoutSeconds": 5},
        "livenessProbe": {**probe, "periodSeconds": 30, "timeoutSeconds": 20},
        "resources": {
            "requests": {"cpu": str(settings.cpu), "memory": memory},
            "limits": {"memory": memory},
        },
        "securityContext": container_security(writes_root=False),
        "volumeMounts": [
            {"name": SHARED_VOLUME, "mountPath": SHARED_PATH, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(stack),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": _LABELS},
            "template": {
                "metadata": {"labels": {**MANAGED_BY, **_LABELS}},
                "spec": {
                    **pod_settings(stack),
                    "containers": [container],
                    "volumes": [shared_volume(claim_name(stack)), scratch_volume()],
                },
            },
        },
    }


def _service(stack: Stack) -> Manifest:
    port = tensorboard_port(stack)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(stack),
        "spec": {
            "type": stack.tensorboard.service_type,
            "selector": _LABELS,
            "ports": [{"name": "http", "port": port, "targetPort": "http"}],
        },
    }


def _network_policy(stack: Stack) -> Manifest:
    ingress: Manifest = {"ports": [{"port": "http"}]}
    if stack.tensorboard.service_type == "ClusterIP":
        ingress["from"] = [{"podSelector": {}}]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(stack),
        "spec": {
            "podSelector": {"matchLabels": _LABELS},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [ingress],
            # It asks nobody anything.
            "egress": [],
        },
    }
