"""The jobs and node pools of valid stacks, with any of their settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.config.valid_values import (
    absolute_paths,
    cpus,
    directories,
    durations,
    env_names,
    filled,
    images,
    label_keys,
    label_values,
    labels,
    memories,
    programs,
    secret_keys,
    subdomains,
    texts,
)

Section = dict[str, Any]

PRIORITY_CLASSES = ("ack-training-test-high", "0-ack-training-test.low")
"""Those that the jobs name: a cluster admits only pods whose class it has."""

_MEBIBYTE = 1024**2


def optional(draw: st.DrawFn, **settings: st.SearchStrategy[Any]) -> Section:
    """Some of the settings; most are left out, so that examples stay small."""
    return {key: draw(value) for key, value in settings.items() if draw(st.integers(0, 2)) == 0}


@st.composite
def tolerations(draw: st.DrawFn) -> Section:
    found = optional(draw, key=label_keys)
    equal: bool = draw(st.booleans())
    if found and equal:
        found |= {"operator": "Equal"} | optional(draw, value=label_values)
    else:
        found["operator"] = "Exists"
    found |= optional(draw, effect=st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]))
    if found.get("effect") == "NoExecute":
        found |= optional(draw, tolerationSeconds=st.integers(0, 2**31 - 1))
    return found


@st.composite
def node_pools(draw: st.DrawFn) -> Section:
    values = st.one_of(label_values, st.lists(label_values, min_size=1, max_size=3))
    found: Section = {"selector": draw(st.dictionaries(label_keys, values, min_size=1, max_size=3))}
    found |= optional(
        draw, tolerations=st.lists(tolerations(), max_size=3), spot=st.booleans(), cpu=cpus
    )
    if draw(st.booleans()):
        # As many and as large as replicas and jobs can be, so that all fit.
        found |= {"min": draw(st.integers(0, 3)), "max": 15_000, "gpus": 1024}
        found.pop("cpu", None)
    return found


@st.composite
def roles(draw: st.DrawFn, pools: list[str], most: int) -> Section:
    found = optional(
        draw,
        replicas=st.integers(1, most),
        gpus=st.integers(0, 8),
        restartPolicy=st.sampled_from(["Never", "OnFailure", "Always", "ExitCode"]),
        tolerations=st.lists(tolerations(), max_size=3),
        nodePool=st.sampled_from(pools) if pools else st.none(),
    )
    found |= _amounts(draw, "cpu", st.integers(1, 10_000), cpus)
    found |= _amounts(draw, "memory", st.integers(_MEBIBYTE, 2**63 - 1), memories)
    if "memory" not in found:
        found |= optional(draw, shm=memories)
    else:
        found |= optional(draw, shm=st.just(found["memory"]))
    if "nodePool" in found:
        # What a node has is not for this generator to keep in mind.
        for key in ("cpu", "cpuLimit", "memory", "memoryLimit"):
            found.pop(key, None)
    return found


def _amounts(
    draw: st.DrawFn, kind: str, numbers: st.SearchStrategy[int], amounts: st.SearchStrategy[Any]
) -> Section:
    """What a replica asks for, and perhaps more that it may have at most."""
    if draw(st.integers(0, 1)):
        return optional(draw, **{kind: amounts})
    least, most = sorted(draw(st.tuples(numbers, numbers)))
    return {kind: least, f"{kind}Limit": most}


@st.composite
def variables(draw: st.DrawFn) -> Any:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return {"secretKeyRef": {"name": draw(subdomains), "key": draw(secret_keys)}}
    if kind == 1:
        return {"value": draw(texts), "secret": draw(st.booleans())}
    return draw(texts)


@st.composite
def volumes(draw: st.DrawFn) -> Section:
    source = draw(st.sampled_from(["claim", "secret", "configMap"]))
    return {source: draw(subdomains)} | optional(draw, readOnly=st.booleans())


_SHAPES = (
    {"chief": 1},
    {"master": 1},
    {"worker": 500},
    {"chief": 1, "worker": 500},
    {"chief": 1, "worker": 500, "ps": 100},
    {"master": 1, "worker": 500, "ps": 100},
)
"""The most replicas of each role."""


def _strategy(job: Section) -> str:
    if "ps" in job:
        return "parameterServer"
    total = sum(
        job[role].get("replicas", 1) for role in ("chief", "master", "worker") if role in job
    )
    return "multiWorkerMirrored" if total > 1 else "none"


@st.composite
def jobs(draw: st.DrawFn, name: str, pools: list[str], scheduler: str | None) -> Section:
    sizes = draw(st.sampled_from(_SHAPES)) | optional(draw, evaluator=st.just(1))
    found: Section = {role: draw(roles(pools, most)) for role, most in sizes.items()}
    found |= optional(draw, strategy=st.just(_strategy(found)))
    if draw(st.booleans()):
        found["program"] = draw(programs)
        found |= optional(draw, export=st.just({}))
        if "export" in found:
            found |= optional(
                draw, serve=st.fixed_dictionaries({}, optional={"replicas": st.integers(1, 1000)})
            )
    else:
        found["command"] = draw(st.lists(filled, min_size=1, max_size=3))
    found |= optional(
        draw,
        args=st.lists(texts.filter(lambda text: not text.startswith("-")), max_size=4),
        image=images,
        imagePullPolicy=st.sampled_from(["IfNotPresent", "Always", "Never"]),
        imagePullSecrets=st.lists(subdomains, max_size=3),
        env=st.dictionaries(env_names, variables(), max_size=5),
        deadline=durations,
        backoffLimit=st.integers(0, 2**31 - 1),
        cleanPodPolicy=st.sampled_from(["Running", "All", "None"]),
        successPolicy=st.sampled_from(["Default", "AllWorkers"]),
        suspend=st.booleans(),
        run=st.integers(1, 2**31 - 1),
        wait=st.sampled_from(["submitted", "running", "succeeded"]),
        waitTimeout=durations,
        startTimeout=durations,
        directory=directories.map(lambda path: f"{name}/{path}"[:1000].rstrip("/")),
    )
    mounts = draw(st.lists(absolute_paths.filter(_may_be_mounted), max_size=3, unique=True))
    if mounts:
        found["volumes"] = {
            f"{draw(labels(40))}-{index}": {**draw(volumes()), "mountPath": path}
            for index, path in enumerate(mounts)
        }
    if draw(st.booleans()):
        found["scheduling"] = draw(_scheduling(found, scheduler))
    return found


def _may_be_mounted(path: str) -> bool:
    taken = ("/training", "/tmp", "/opt/ack-training", "/dev", "/proc", "/sys")
    return not any(path == each or path.startswith(f"{each}/") for each in taken)


@st.composite
def _scheduling(draw: st.DrawFn, job: Mapping[str, Any], scheduler: str | None) -> Section:
    found = optional(draw, priorityClass=st.sampled_from(PRIORITY_CLASSES))
    gangs = {None: ["pod-labels"], "volcano": ["pod-labels", "volcano"]}
    gang = draw(st.sampled_from([None, *gangs.get(scheduler, ["pod-labels", "scheduler-plugins"])]))
    if gang is not None:
        found["gang"] = gang
        total = sum(
            job[role].get("replicas", 1)
            for role in ("chief", "master", "worker", "ps", "evaluator")
            if role in job
        )
        found |= optional(draw, minAvailable=st.integers(1, total))
    if gang == "volcano":
        found |= optional(draw, queue=filled)
    return found
