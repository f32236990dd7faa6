"""The pod of a replica, as a pure function of the job and the stack."""

from __future__ import annotations

from typing import Any

from config.jobs import Job
from config.labels import Toleration
from config.node_pools import NodePool
from config.replicas import Replicas
from config.roles import Role
from config.stack import Stack
from training.code_config_map import (
    CODE_PATH,
    RUNTIME_PATH,
)
from training.pod_volumes import Code, pod_mounts, pod_volumes
from workloads.images import default_image, rewritten
from workloads.pods import (
    SHARED_PATH,
    Manifest,
    container_security,
    pod_settings,
)

CONTAINER = "tensorflow"
"""The operator reads and fills the container of this name."""

GPU = "nvidia.com/gpu"

_SPOT_TAINTS = (
    # https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms
    ("cloud.google.com/gke-spot", "true"),
    # https://learn.microsoft.com/azure/aks/spot-node-pool
    ("kubernetes.azure.com/scalesetpriority", "spot"),
)


def pod_spec(
    stack: Stack, job: Job, role: Role, code: Code | None, secret_name: Any = None
) -> Manifest:
    """The `spec` of the pods of one role. `secret_name` is the Secret that holds the job's secret
    variables, where it has any."""
    replicas = job.roles[role]
    pool = stack.node_pools.get(replicas.node_pool or "")
    spec: Manifest = {
        **pod_settings(stack, job.image_pull_secrets),
        "containers": [_container(stack, job, replicas, code, secret_name)],
        "volumes": pod_volumes(stack, job, replicas, code),
    }
    if job.scheduling.priority_class is not None:
        spec["priorityClassName"] = job.scheduling.priority_class
    tolerations = [*_pool_tolerations(pool), *map(_toleration, replicas.tolerations)]
    if tolerations:
        spec["tolerations"] = tolerations
    return spec | ({} if pool is None else _placement(pool))


def resources(replicas: Replicas) -> Manifest:
    """Requests and limits. GPUs cannot be overcommitted: both are the same."""
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for key, wanted, most in (
        ("cpu", replicas.cpu, replicas.cpu_limit),
        ("memory", replicas.memory, replicas.memory_limit),
    ):
        if wanted is not None:
            requests[key], limits[key] = str(wanted), str(most or wanted)
    if replicas.gpus:
        requests[GPU] = limits[GPU] = str(replicas.gpus)
    return {"requests": requests, "limits": limits} if requests else {}


def _container(
    stack: Stack, job: Job, replicas: Replicas, code: Code | None, secret_name: Any
) -> Manifest:
    own = job.image is None
    image = default_image(replicas.gpus, stack.image_registry)
    container: Manifest = {
        "name": CONTAINER,
        "image": image if job.image is None else rewritten(job.image, stack.image_registry),
        "imagePullPolicy": job.image_pull_policy,
        "command": _command(job),
        "env": _environment(job, replicas, secret_name),
        "volumeMounts": pod_mounts(job, code),
        "securityContext": container_security(writes_root=not own),
        # What a replica said last is told where it failed.
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    if needs := resources(replicas):
        container["resources"] = needs
    if code is not None:
        container["workingDir"] = CODE_PATH
    return container


def _command(job: Job) -> list[str]:
    if job.program is None:
        return [*(job.command or ()), *map(_escaped, job.args)]
    return ["python", "-m", "runtime", f"{CODE_PATH}/{job.program}", *map(_escaped, job.args)]


def _escaped(argument: str) -> str:
    """As the job's own words: the kubelet would read $(NAME) as a variable, and $$ as $.
    https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
    """
    return argument.replace("$", "$$")


def _environment(job: Job, replicas: Replicas, secret_name: Any) -> list[Manifest]:
    plain = {
        "HOME": "/tmp",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ACK_TRAINING_JOB": job.name,
        "ACK_TRAINING_JOB_DIR": f"{SHARED_PATH}/{job.directory}",
        "ACK_TRAINING_DATASETS_DIR": f"{SHARED_PATH}/datasets",
        "ACK_TRAINING_RUN": str(job.run),
        "ACK_TRAINING_EXPORT": "1" if job.export is not None else "0",
        "ACK_TRAINING_START_TIMEOUT": str(int(job.start_timeout.total_seconds())),
    }
    if replicas.gpus:
        # Memory as it is needed, not all at once; and NCCL says what it cannot do.
        plain |= {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "NCCL_DEBUG": "WARN"}
    else:
        # NVIDIA's container toolkit shows all GPUs of a node to an image that does not say no.
        plain["NVIDIA_VISIBLE_DEVICES"] = "void"
    plain |= {
        name: env.value
        for name, env in job.env.items()
        if not env.secret and env.secret_key_ref is None
    }
    if job.program is not None:
        # A user's own path comes after the runtime's, without which no program starts.
        plain["PYTHONPATH"] = ":".join(filter(None, [RUNTIME_PATH, plain.get("PYTHONPATH")]))
    found: list[Manifest] = [
        {"name": name, "value": _escaped(value)} for name, value in plain.items()
    ]
    for name, env in job.env.items():
        if env.secret_key_ref is not None:
            reference = {"name": env.secret_key_ref.name, "key": env.secret_key_ref.key}
        elif env.secret:
            reference = {"name": secret_name, "key": name}
        else:
            continue
        found.append({"name": name, "valueFrom": {"secretKeyRef": reference}})
    return sorted(found, key=lambda variable: str(variable["name"]))


def _placement(pool: NodePool) -> Manifest:
    """One value of a label is a selector; one of several needs an affinity."""
    single = {key: values[0] for key, values in pool.selector.items() if len(values) == 1}
    several = {key: values for key, values in pool.selector.items() if len(values) > 1}
    placement: Manifest = {"nodeSelector": single} if single else {}
    if several:
        terms = [
            {"key": key, "operator": "In", "values": list(values)}
            for key, values in several.items()
        ]
        required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
        placement["affinity"] = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
        }
    return placement


def _pool_tolerations(pool: NodePool | None) -> list[Manifest]:
    if pool is None:
        return []
    spot = [
        {"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}
        for key, value in (_SPOT_TAINTS if pool.spot else ())
    ]
    return [*map(_toleration, pool.tolerations), *spot]


def _toleration(toleration: Toleration) -> Manifest:
    found: Manifest = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.toleration_seconds,
    }
    return {key: value for key, value in found.items() if value is not None}
