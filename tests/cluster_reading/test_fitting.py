"""What a preview tells of nodes and volumes: only what is certain, and nothing it may not see."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.connection import Connection
from cluster.fitting import amount
from provider.cluster.notices import notices
from tests.cluster_reading.api_server import Request, api_server, kubeconfig

OWNER = "organization.ack-training.dev"
ASKS = [
    {"path": "jobs.m.ps", "amounts": {}},
    {"path": "jobs.m.worker", "amounts": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "2"}},
]
POOL = {
    "path": "nodePools.a10",
    "where": "of node pool a10",
    "labels": {"pool": ["a", "b"], "zone": ["z"]},
    "asks": ASKS,
}


def node(**allocatable: str) -> dict[str, Any]:
    gpus = {"nvidia.com/gpu": allocatable.pop("gpus")} if "gpus" in allocatable else {}
    return {"metadata": {"name": "n"}, "status": {"allocatable": {**allocatable, **gpus}}}


def told(
    found: tuple[int, Any], volumes: tuple[int, Any] = (200, {"items": []}), **wants: Any
) -> tuple[list[str], list[str]]:
    """The sentences, and what was asked of the cluster."""

    def answer(request: Request) -> tuple[int, Any]:
        return found if request.path.startswith("/api/v1/nodes") else volumes

    with api_server(answer) as server:
        cluster = Connection(content=kubeconfig(server.url)).open()
        inputs = {"owner": OWNER, "namespace": "training", "wants": wants}
        said = notices(cluster, inputs)
        return said, sorted(request.path for request in server.requests)


def of_nodes(*nodes: dict[str, Any], more: str = "") -> list[str]:
    return told((200, {"items": list(nodes), "metadata": {"continue": more}}), nodes=[POOL])[0]


def test_each_thing_that_fits_no_node_is_told() -> None:
    assert of_nodes(node(cpu="3920m", memory="16Gi", gpus="1"), node(cpu="2", memory="1Gi")) == [
        "jobs.m.worker: asks for 4 cpu, and the largest node of node pool a10 offers 3920m",
        "jobs.m.worker: asks for 2 nvidia.com/gpu, and the largest node of node pool a10 offers 1",
    ]
    assert of_nodes(node(cpu="4", memory="16777216Ki")) == [
        "jobs.m.worker: asks for nvidia.com/gpu, which no node of node pool a10 offers"
    ]
    assert of_nodes(node(cpu="64", memory="64G", gpus="8")) == []


def test_memory_is_told_as_a_stack_file_has_it() -> None:
    assert of_nodes(node(cpu="64", memory="6581252Ki", gpus="8")) == [
        "jobs.m.worker: asks for 16Gi memory, and the largest node of node pool a10 offers 6.2Gi"
    ]


def test_a_pool_without_nodes_is_one_line() -> None:
    assert of_nodes() == [
        "nodePools.a10: there is no such node, and its replicas wait until there is one"
    ]


def test_of_a_part_of_the_nodes_nothing_follows() -> None:
    assert of_nodes(node(cpu="1", memory="1Gi"), more="page 2") == []


def test_few_requests_with_the_pools_labels() -> None:
    _, asked = told((200, {"items": []}), nodes=[POOL])
    assert asked == [
        "/api/v1/namespaces/training/persistentvolumeclaims"
        f"?labelSelector=ack-training%2Fstack%3D{OWNER}",
        "/api/v1/nodes?limit=500&labelSelector=pool+in+%28a%2Cb%29%2Czone+in+%28z%29",
        f"/api/v1/persistentvolumes?labelSelector=ack-training%2Fstack%3D{OWNER}",
    ]


def test_who_may_not_look_is_told_nothing() -> None:
    assert told((403, {}), (403, {}), nodes=[POOL])[0] == []


def test_a_volume_that_is_being_deleted() -> None:
    def volume(name: str, label: str, **more: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "labels": {"ack-training/stack": label}, **more}}

    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    items = [
        volume("data", OWNER, **gone),
        volume("fine", OWNER),
        volume("other", "another", **gone),
        volume("named", "another", **gone),
    ]
    said, _ = told((200, {}), (200, {"items": items}), claims=["named"])
    end = " is being deleted: what uses it runs on, and no new pod can have it"
    assert said == [
        f"PersistentVolumeClaim data{end}",
        f"PersistentVolumeClaim named{end}",
        f"PersistentVolume data{end}",
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [("2", 2), ("500m", 0.5), ("1Ki", 1024), ("2Gi", 2**31), ("3M", 3e6), ("0", 0)],
)
def test_quantities(text: str, number: float) -> None:
    assert amount(text) == number
