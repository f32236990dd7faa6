"""What a preview looks for on a cluster, by the stack's config."""

from __future__ import annotations

from typing import Any

from config import parse
from training.cluster_wants import cluster_wants


def wants(storage: dict[str, str], **jobs: dict[str, Any]) -> dict[str, Any]:
    pools = {
        "a10": {"selector": {"pool": ["a", "b"]}},
        "grows": {"selector": {"pool": "g"}, "min": 0, "max": 2},
    }
    base = {"target": "kubernetes", "kubernetes": {"context": "a"}, "storage": storage}
    jobs = {name: {"program": "a.py", **job} for name, job in jobs.items()}
    return cluster_wants(parse({**base, "nodePools": pools, "jobs": jobs}))


def test_what_replicas_ask_for_by_where_they_are_sent() -> None:
    found = wants(
        {"claim": "mine"},
        m={
            "worker": {"gpus": 1, "cpu": 0.5, "memory": "2Gi", "nodePool": "a10"},
            "chief": {"cpu": 2},
            "ps": {},
            "evaluator": {"gpus": 9, "nodePool": "grows"},
        },
        n={"worker": {"gpus": 9, "nodePool": "a10"}, "suspend": True},
    )
    assert found == {
        "claims": ["mine"],
        "nodes": [
            {
                "path": "ack-training:jobs",
                "where": "of the cluster",
                "labels": {},
                "asks": [{"path": "ack-training:jobs.m.chief", "amounts": {"cpu": "2"}}],
            },
            {
                "path": "ack-training:nodePools.a10",
                "where": "of node pool a10",
                "labels": {"pool": ["a", "b"]},
                "asks": [
                    {
                        "path": "ack-training:jobs.m.worker",
                        "amounts": {"cpu": "500m", "memory": "2Gi", "nvidia.com/gpu": "1"},
                    }
                ],
            },
        ],
    }


def test_a_plain_stack_asks_for_nothing() -> None:
    assert wants({"hostPath": "/x"}, m={"worker": {}}) == {"claims": [], "nodes": []}
