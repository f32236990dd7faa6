"""Rules of the kubernetes target that look at more than one setting."""

from __future__ import annotations

from collections.abc import Iterator

from config.datasets import SETTINGS_OF, Dataset
from config.errors import Fault, nearest
from config.jobs import Job
from config.labels import KEY_RULE, Toleration, is_label_key
from config.names import LABEL_RULE, is_label
from config.stack import Stack
from config.storage import CLUSTER_KINDS

_SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


def cluster_faults(stack: Stack, broken: frozenset[str]) -> Iterator[Fault]:
    """Everything that settings of a cluster break together, on whichever target.

    `broken` are the top-level keys below which something was wrong: what seems to be missing there
    may only be misspelt.
    """
    if "storage" not in broken:
        yield from _storage(stack)
    yield from _node_pools(stack)
    for name, dataset in stack.datasets.items():
        yield from _dataset(stack, name, dataset)
    for name, job in stack.jobs.items():
        yield from _scheduling(stack, name, job)
        yield from _placement(stack, name, job, "nodePools" in broken)
        yield from _volumes(name, job)
        yield from _environment(stack, name, job)
    if stack.target == "kubernetes":
        yield from _cluster(stack, "kubernetes" in broken)


def _cluster(stack: Stack, doubtful: bool) -> Iterator[Fault]:
    cluster, operator = stack.kubernetes, stack.operator
    if cluster.kubeconfig is None and cluster.context is None and not doubtful:
        yield Fault(
            ("kubernetes",),
            "needs kubeconfig or context to name the cluster: it is never the one that the shell "
            "points at; write kubernetes: {context: …}",
        )
    for section, namespace in (("kubernetes", cluster.namespace), ("operator", operator.namespace)):
        if namespace in _SYSTEM_NAMESPACES:
            yield Fault(
                (section, "namespace"),
                f"must not be {namespace}: the stack puts Pod Security on its namespaces",
            )
    if cluster.namespace == operator.namespace:
        yield Fault(
            ("operator", "namespace"),
            f"{operator.namespace!r} is also kubernetes.namespace; the operator needs its own",
        )


def _storage(stack: Stack) -> Iterator[Fault]:
    given = stack.storage.cluster_kinds
    if stack.target == "local":
        for kind in given:
            yield Fault(("storage", kind), "is of a cluster; on local write path")
    if stack.target != "kubernetes":
        return
    if stack.storage.declared_path is not None:
        yield Fault(
            ("storage", "path"), f"is of the local target; write {_one_of(CLUSTER_KINDS)} instead"
        )
    elif not given:
        yield Fault(("storage",), f"needs one of {', '.join(CLUSTER_KINDS)} on a cluster")
    for kind in given[1:]:
        yield Fault(("storage", kind), f"is given beside {given[0]}; only one of them may be")


def _node_pools(stack: Stack) -> Iterator[Fault]:
    for name, pool in stack.node_pools.items():
        path = ("nodePools", name)
        if not is_label(name):
            yield Fault(path, f"a node pool's name {LABEL_RULE}")
        for key in pool.selector:
            if not is_label_key(key):
                yield Fault((*path, "selector", key), KEY_RULE)
        if stack.target == "kubernetes" and not pool.selector:
            yield Fault((*path, "selector"), "needs at least one label that its nodes have")
        if pool.min is not None and pool.max is None:
            yield Fault((*path, "min"), "needs max beside it")
        elif pool.min is not None and pool.max is not None and pool.min > pool.max:
            yield Fault((*path, "min"), f"must be at most max, {pool.max}; it is {pool.min}")
        for index, toleration in enumerate(pool.tolerations):
            yield from _toleration((*path, "tolerations", index), toleration)


def _toleration(path: tuple[str | int, ...], toleration: Toleration) -> Iterator[Fault]:
    """As the API server validates tolerations:
    https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"""
    if toleration.operator == "Exists" and toleration.value:
        yield Fault((*path, "value"), "is not for operator Exists; remove it or write Equal")
    if toleration.key is None and toleration.operator == "Equal":
        yield Fault((*path, "key"), "is missing; without it only operator Exists is allowed")
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield Fault((*path, "tolerationSeconds"), "needs effect: NoExecute beside it")


def _dataset(stack: Stack, name: str, dataset: Dataset) -> Iterator[Fault]:
    path = ("datasets", name)
    needed, allowed = SETTINGS_OF[dataset.source]
    if stack.target == "local" and dataset.source not in ("sample", "provided"):
        yield Fault(
            (*path, "source"),
            f"{dataset.source} is of a cluster; on local write sample or provided",
        )
        return
    for key in ("image", "url", "sha256", "claim", "path"):
        given = getattr(dataset, key) is not None
        if key in needed and not given:
            yield Fault((*path, key), f"is missing; source: {dataset.source} needs it")
        elif given and key not in (*needed, *allowed):
            yield Fault((*path, key), f"is not for source: {dataset.source}; remove it")
    if dataset.path is not None:
        if dataset.source == "image" and not dataset.path.startswith("/"):
            yield Fault((*path, "path"), f"must be absolute in an image, got {dataset.path!r}")
        if dataset.source == "claim" and dataset.path.startswith("/"):
            yield Fault((*path, "path"), f"must be relative in a claim, got {dataset.path!r}")


def _scheduling(stack: Stack, name: str, job: Job) -> Iterator[Fault]:
    scheduling, path = job.scheduling, ("jobs", name, "scheduling")
    scheduler = stack.operator.gang_scheduler
    if scheduling.min_available is not None:
        if scheduling.gang is None:
            yield Fault((*path, "minAvailable"), "needs gang beside it")
        elif scheduling.min_available > job.total:
            yield Fault(
                (*path, "minAvailable"),
                f"must be at most the job's replicas, {job.total}; it is "
                f"{scheduling.min_available}",
            )
    if scheduling.queue is not None and scheduling.gang != "volcano":
        yield Fault((*path, "queue"), "needs gang: volcano beside it")
    if stack.target != "kubernetes":
        return
    if scheduling.gang == "volcano" and scheduler != "volcano":
        yield Fault(
            (*path, "gang"), "volcano needs operator: {gangScheduler: volcano} in the stack"
        )
    if scheduling.gang == "scheduler-plugins" and scheduler in (None, "volcano"):
        yield Fault(
            (*path, "gang"),
            "scheduler-plugins needs operator: {gangScheduler: …} in the stack, the name of the "
            "scheduler that has the coscheduling plugin",
        )


def _placement(stack: Stack, name: str, job: Job, pools_doubtful: bool) -> Iterator[Fault]:
    for role, replicas in job.roles.items():
        key = "master" if role == "chief" and job.master else role
        path = ("jobs", name, key)
        pool = replicas.node_pool
        unknown = pool is not None and pool not in stack.node_pools
        if stack.target == "kubernetes" and unknown and not pools_doubtful:
            close = nearest(str(pool), stack.node_pools)
            advice = f"did you mean {close}?" if close else "add it to nodePools"
            yield Fault((*path, "nodePool"), f"there is no node pool {pool!r}", advice=advice)
        for index, toleration in enumerate(replicas.tolerations):
            yield from _toleration((*path, "tolerations", index), toleration)
        if replicas.cpu_limit is not None:
            if replicas.cpu is None:
                yield Fault((*path, "cpuLimit"), "needs cpu beside it, what each replica asks for")
            elif replicas.cpu_limit.millicores < replicas.cpu.millicores:
                yield Fault((*path, "cpuLimit"), f"must be at least cpu, {replicas.cpu}")
        if replicas.memory_limit is not None:
            if replicas.memory is None:
                yield Fault((*path, "memoryLimit"), "needs memory beside it")
            elif replicas.memory_limit.size_bytes < replicas.memory.size_bytes:
                yield Fault((*path, "memoryLimit"), f"must be at least memory, {replicas.memory}")
        most = replicas.memory_limit or replicas.memory
        if replicas.shm and most and replicas.shm.size_bytes > most.size_bytes:
            yield Fault(
                (*path, "shm"), f"must be at most the replica's memory, {most}, as it is part of it"
            )


def _volumes(name: str, job: Job) -> Iterator[Fault]:
    mounted: dict[str, str] = {}
    for volume_name, volume in job.volumes.items():
        path = ("jobs", name, "volumes", volume_name)
        if not is_label(volume_name):
            yield Fault(path, f"a volume's name {LABEL_RULE}")
        elif volume_name in ("shared", "shm", "tmp", "code", "runtime"):
            yield Fault(path, "is a volume that every replica has already; rename it")
        if len(volume.sources) != 1:
            yield Fault(path, "needs exactly one of claim, secret and configMap")
        if volume.mount_path in mounted:
            yield Fault(
                (*path, "mountPath"),
                f"{volume.mount_path} is also that of volume {mounted[volume.mount_path]!r}",
            )
        mounted.setdefault(volume.mount_path, volume_name)


def _environment(stack: Stack, name: str, job: Job) -> Iterator[Fault]:
    for variable, env in job.env.items():
        if stack.target == "local" and env.secret_key_ref is not None:
            yield Fault(
                ("jobs", name, "env", variable, "secretKeyRef"),
                "is of a cluster: local has no Secrets; write the value, encrypted by "
                "pulumi config set --secret --path",
            )


def _one_of(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
