"""Stacks on a cluster that break no rule, with any of their settings and with odd values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from config.names import RUNTIME_ENV
from config.roles import replica_name

Section = dict[str, Any]

PRIORITY_CLASSES = ("high", "team.low", "0-priority")
"""Those that the stacks name: a cluster admits only pods whose class it has."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ALNUM = f"{_LETTERS}0123456789"
_UPPER = _LETTERS.upper()

# No NUL and no half of a pair, which no config may hold; all else may stand in a value.
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    st.sampled_from(
        ["", " ", "$(HOME)", "$$(A)", "${A}", "a=b,c", "-", "\n", "\x1b[0m", "ü", "'\""]
    ),
    st.just("x" * 5000),
)
filled = texts.filter(lambda text: bool(text.strip()))


def _word(first: str, middle: str, last: str, longest: int) -> st.SearchStrategy[str]:
    """From one character to `longest`."""
    ends = st.tuples(st.sampled_from(first), st.text(middle, max_size=12), st.sampled_from(last))
    filler = "".join(middle[index % len(middle)] for index in range(longest - 2))
    return st.one_of(
        st.sampled_from(first).filter(lambda letter: letter in last),
        ends.map("".join),
        st.just(f"{first[0]}{filler}{last[-1]}"),
    )


def labels(longest: int = 63) -> st.SearchStrategy[str]:
    """DNS-1035 labels."""
    return _word(_LETTERS, f"{_ALNUM}-", _ALNUM, longest)


_parts = _word(_ALNUM, f"{_ALNUM}-", _ALNUM, 63)
subdomains = st.one_of(
    st.lists(_parts, min_size=1, max_size=3).map(".".join),
    st.just(".".join(["a" * 63] * 3 + ["b" * 61])),
)
_names = _word(_ALNUM + _UPPER, f"{_ALNUM}{_UPPER}-_.", _ALNUM + _UPPER, 63)
label_keys = st.one_of(_names, st.tuples(subdomains, _names).map("/".join))
label_values = st.just("") | _names
env_names = _word(f"{_LETTERS}{_UPPER}_", f"{_ALNUM}{_UPPER}_", f"{_ALNUM}{_UPPER}_", 253).filter(
    lambda name: not RUNTIME_ENV.fullmatch(name) and name not in ("KERAS_BACKEND", "PYTHONPATH")
) | st.sampled_from(["HOME", "PATH", "PYTHONUNBUFFERED", "NCCL_DEBUG", "_", "tf_config"])
secret_keys = _word(f"{_ALNUM}{_UPPER}-_", f"{_ALNUM}{_UPPER}-_.", f"{_ALNUM}.-_", 253)
_segments = _word(f"{_ALNUM}{_UPPER}_", f"{_ALNUM}{_UPPER}_-.", f"{_ALNUM}.-_", 255)
directories = st.lists(_segments, min_size=1, max_size=3).map("/".join) | st.just(
    "/".join(["d" * 255] * 4)
)
_images = st.sampled_from(
    [
        "busybox",
        "example.com/train:1",
        "localhost:5000/a/b__c/d-e.f:V_1.0",
        f"registry.example.com/team/name:{'t' * 128}@sha256:{'0' * 64}",
        "192.168.0.1:5000/x",
    ]
)
_odd_paths = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0:/"), min_size=1, max_size=20
).filter(lambda part: part not in (".", ".."))
absolute_paths = st.lists(_odd_paths, min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)
cpus = st.one_of(
    st.integers(1, 10_000),
    st.integers(1, 10_000_000).map("{}m".format),
    st.just("0.001"),
    st.just(0.25),
    st.just("2.500"),
)
_MEBIBYTE = 1024**2
memories = st.one_of(
    st.integers(_MEBIBYTE, 2**63 - 1),
    st.sampled_from(
        ["1Mi", "8Gi", "500M", "1.5Gi", "7E", "7.5Ei", "1048576", "1048.576k", "1e"[:1] + "T"]
    ),
)
durations = st.sampled_from(["1s", "90m", "2h30m", "365d", "1d1h1m1s"])
programs = st.sampled_from(
    [
        "a.py",
        "training/programs/mnist.py",
        "my code/größe & co.py",
        "deep/" * 20 + "x.py",
        "./b/../c.py",
        ".hidden/.x.py",
        "n" * 250 + ".py",
        "日本/ü/é.py",
        "new\nline.py",
    ]
)


def _optional(draw: st.DrawFn, **settings: st.SearchStrategy[Any]) -> Section:
    """Some of the settings; most are left out, so that examples stay small."""
    return {key: draw(value) for key, value in settings.items() if draw(st.integers(0, 2)) == 0}


@st.composite
def tolerations(draw: st.DrawFn) -> Section:
    found = _optional(draw, key=label_keys)
    if found and draw(st.booleans()):
        found |= {"operator": "Equal"} | _optional(draw, value=label_values)
    else:
        found["operator"] = "Exists"
    found |= _optional(
        draw, effect=st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
    )
    if found.get("effect") == "NoExecute":
        found |= _optional(draw, tolerationSeconds=st.integers(0, 2**31 - 1))
    return found


@st.composite
def node_pools(draw: st.DrawFn) -> Section:
    values = st.one_of(label_values, st.lists(label_values, min_size=1, max_size=3))
    found: Section = {"selector": draw(st.dictionaries(label_keys, values, min_size=1, max_size=3))}
    found |= _optional(
        draw, tolerations=st.lists(tolerations(), max_size=3), spot=st.booleans(), cpu=cpus
    )
    if draw(st.booleans()):
        # As many and as large as replicas and jobs can be, so that all fit.
        found |= {"min": draw(st.integers(0, 3)), "max": 15_000, "gpus": 1024}
        found.pop("cpu", None)
    return found


@st.composite
def roles(draw: st.DrawFn, pools: list[str], most: int) -> Section:
    found = _optional(
        draw,
        replicas=st.integers(1, most),
        gpus=st.integers(0, 8),
        restartPolicy=st.sampled_from(["Never", "OnFailure", "Always", "ExitCode"]),
        tolerations=st.lists(tolerations(), max_size=3),
        nodePool=st.sampled_from(pools) if pools else st.none(),
    )
    for kind, amounts in (("cpu", cpus), ("memory", memories)):
        wanted = _optional(draw, **{kind: amounts})
        if wanted and draw(st.booleans()):
            wanted[f"{kind}Limit"] = wanted[kind]
        found |= wanted
    if "memory" not in found:
        found |= _optional(draw, shm=memories)
    elif draw(st.booleans()):
        found["shm"] = found["memory"]
    if "nodePool" in found:
        # What a node has is not for this generator to keep in mind.
        for key in ("cpu", "cpuLimit", "memory", "memoryLimit"):
            found.pop(key, None)
    return found


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
    return {source: draw(subdomains)} | _optional(draw, readOnly=st.booleans())


@st.composite
def jobs(draw: st.DrawFn, name: str, pools: list[str], scheduler: str | None) -> Section:
    role = lambda most=1: roles(pools, most)  # noqa: E731
    found: Section = {}
    shape = draw(st.sampled_from(["chief", "master", "worker", "mirrored", "ps"]))
    if shape in ("chief", "mirrored", "ps"):
        found["chief"] = draw(role())
    if shape == "master":
        found["master"] = draw(role())
    if shape in ("worker", "mirrored", "ps"):
        found["worker"] = draw(role(10_000))
    if shape == "ps":
        found["ps"] = draw(role(100))
    found |= _optional(draw, evaluator=role())
    if draw(st.booleans()):
        found["program"] = draw(programs)
        found |= _optional(draw, export=st.just({}))
    else:
        found["command"] = draw(st.lists(filled, min_size=1, max_size=3))
    found |= _optional(
        draw,
        args=st.lists(texts.filter(lambda text: not text.startswith("-")), max_size=4),
        image=_images,
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
    taken = ("/training", "/tmp", "/dev/shm", "/opt/ack-training")
    return not any(path == each or path.startswith(f"{each}/") for each in taken)


@st.composite
def _scheduling(draw: st.DrawFn, job: Mapping[str, Any], scheduler: str | None) -> Section:
    found = _optional(draw, priorityClass=st.sampled_from(PRIORITY_CLASSES))
    gangs = {None: ["pod-labels"], "volcano": ["pod-labels", "volcano"]}
    gang = draw(st.sampled_from([None, *gangs.get(scheduler, ["pod-labels", "scheduler-plugins"])]))
    if gang is not None:
        found["gang"] = gang
        total = sum(
            job[role].get("replicas", 1)
            for role in ("chief", "master", "worker", "ps", "evaluator")
            if role in job
        )
        found |= _optional(draw, minAvailable=st.integers(1, total))
    if gang == "volcano":
        found |= _optional(draw, queue=filled)
    return found


_SOURCES: dict[str, Callable[[], st.SearchStrategy[Section]]] = {
    "provided": lambda: st.just({}),
    "image": lambda: st.fixed_dictionaries({"image": _images, "path": absolute_paths}),
    "url": lambda: st.fixed_dictionaries(
        {
            "url": st.sampled_from(["https://example.com/a.tar.gz", "http://[::1]:80?x=%20&y='"]),
            "sha256": st.sampled_from(["0" * 64, "AbCdEf01" * 8]),
        }
    ),
    "claim": lambda: st.fixed_dictionaries(
        {"claim": subdomains}, optional={"path": st.lists(_odd_paths, min_size=1).map("/".join)}
    ),
}


@st.composite
def datasets(draw: st.DrawFn) -> Section:
    source = draw(st.sampled_from(list(_SOURCES)))
    return {"source": source, **draw(_SOURCES[source]())}


_storages = st.one_of(
    st.fixed_dictionaries({"storageClass": subdomains}),
    st.fixed_dictionaries({"hostPath": absolute_paths}),
    st.fixed_dictionaries({"claim": subdomains}),
    st.fixed_dictionaries(
        {
            "nfs": st.fixed_dictionaries(
                {"server": st.sampled_from(["10.0.0.5", "nas.example.com", "fe80::1", "::1"])},
                optional={"path": absolute_paths, "options": st.lists(filled, max_size=3)},
            )
        }
    ),
)


@st.composite
def valid_stacks(draw: st.DrawFn) -> Section:
    """The config of a stack on a cluster, keys without `ack-training:`."""
    namespaces = draw(
        st.lists(
            labels().filter(lambda name: name not in _SYSTEM), min_size=2, max_size=2, unique=True
        )
    )
    scheduler = draw(st.sampled_from([None, "volcano", "my scheduler"]))
    found: Section = {
        "target": "kubernetes",
        "kubernetes": {
            "context": "test",
            "namespace": namespaces[0],
            **_optional(
                draw,
                podSecurity=st.sampled_from(["baseline", "restricted"]),
                runAsUser=st.integers(1, 2**31 - 1),
                runAsGroup=st.integers(1, 2**31 - 1),
            ),
        },
        "operator": {"namespace": namespaces[1]}
        | ({} if scheduler is None else {"gangScheduler": scheduler}),
        "storage": draw(_storages) | _optional(draw, size=memories),
        "nodePools": draw(st.dictionaries(labels(), node_pools(), max_size=2)),
        "datasets": draw(st.dictionaries(labels(), datasets(), max_size=2)),
        "tensorboard": _optional(
            draw,
            enabled=st.booleans(),
            port=st.integers(1024, 65535),
            pathPrefix=st.sampled_from(["", "/", "tb/", "/a/b~c/.d", "x" * 300]),
            reloadInterval=durations,
            serviceType=st.sampled_from(["ClusterIP", "NodePort", "LoadBalancer"]),
            cpu=cpus,
            memory=memories,
        ),
    }
    found |= _optional(
        draw,
        imageRegistry=st.sampled_from(["registry.example.com:5000/team/", "localhost", "a.b/c__d"]),
        imagePullSecrets=st.lists(subdomains, max_size=3),
    )
    # The longest suffix of a replica's name, of any job here.
    longest = 63 - len(replica_name("", "evaluator", 9999))
    names = draw(
        st.lists(
            labels(longest).filter(lambda name: name not in ("datasets", "tensorboard")),
            min_size=1,
            max_size=2,
            unique=True,
        )
    )
    pools = list(found["nodePools"])
    found["jobs"] = {name: draw(jobs(name, pools, scheduler)) for name in names}
    return found


_SYSTEM = ("default", "kube-system", "kube-public", "kube-node-lease")
