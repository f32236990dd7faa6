"""Stacks on a cluster that break no rule, with any of their settings."""

from __future__ import annotations

from hypothesis import strategies as st

from config.roles import replica_name
from tests.config.valid_jobs import Section, jobs, node_pools, optional
from tests.config.valid_values import (
    absolute_paths,
    cpus,
    durations,
    filled,
    images,
    labels,
    memories,
    path_parts,
    subdomains,
)

_SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

datasets = st.one_of(
    st.just({"source": "provided"}),
    st.fixed_dictionaries({"source": st.just("image"), "image": images, "path": absolute_paths}),
    st.fixed_dictionaries(
        {
            "source": st.just("url"),
            "url": st.sampled_from(["https://example.com/a.tar.gz", "http://[::1]:80?x=%20&y='"]),
            "sha256": st.sampled_from(["0" * 64, "AbCdEf01" * 8]),
        }
    ),
    st.fixed_dictionaries(
        {"source": st.just("claim"), "claim": subdomains},
        optional={"path": st.lists(path_parts, min_size=1).map("/".join)},
    ),
)
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
            labels().filter(lambda name: name not in _SYSTEM_NAMESPACES),
            min_size=2,
            max_size=2,
            unique=True,
        )
    )
    scheduler = draw(st.sampled_from([None, "volcano", "my scheduler"]))
    found: Section = {
        "target": "kubernetes",
        "kubernetes": {
            "context": "test",
            "namespace": namespaces[0],
            **optional(
                draw,
                podSecurity=st.sampled_from(["baseline", "restricted"]),
                runAsUser=st.integers(1, 2**31 - 1),
                runAsGroup=st.integers(1, 2**31 - 1),
            ),
        },
        "operator": {"namespace": namespaces[1]}
        | ({} if scheduler is None else {"gangScheduler": scheduler}),
        "storage": draw(_storages) | optional(draw, size=memories),
        "nodePools": draw(st.dictionaries(labels(), node_pools(), max_size=2)),
        "datasets": draw(st.dictionaries(labels(), datasets, max_size=2)),
        "tensorboard": optional(
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
    found |= optional(
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
