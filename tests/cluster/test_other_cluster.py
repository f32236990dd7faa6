"""A stack goes to its own cluster, by whatever way each machine finds it, and to no other."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.handle import Cluster
from tests.cluster.stacks import ClusterStack, exported_resources, stack_on, summary
from tests.cluster_reading.api_server import Request, api_server
from tests.engine.workspace import Result
from toolchain.cluster.simulated_nodes import NodeShape

pytestmark = pytest.mark.usefixtures("images")


def names(stack: ClusterStack) -> set[str]:
    return {str(resource["urn"]) for resource in exported_resources(stack)}


def another_cluster(request: Request) -> tuple[int, Any]:
    """An API server of a cluster that has none of the stack's objects."""
    if request.path.endswith("/kube-system"):
        return 200, {"metadata": {"uid": "another"}}
    if request.path.endswith("selfsubjectrulesreviews"):
        every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return 201, {"status": {"resourceRules": [every]}}
    return 404, {"reason": "NotFound"}


def led_to(kubeconfig: Path, server: str) -> str:
    document = yaml.safe_load(kubeconfig.read_text())
    for cluster in document["clusters"]:
        cluster["cluster"] = {"server": server}
    return yaml.safe_dump(document)


def at_home(kubeconfig: Path, folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copy2(kubeconfig, folder / "kubeconfig"))


def test_a_colleague_with_another_kubeconfig(cluster: Cluster, tmp_path: Path) -> None:
    """The stack's file names a context alone: the state holds no path of anybody's."""
    mine = at_home(cluster.kubeconfig, tmp_path / "mine")
    (context,) = yaml.safe_load(mine.read_text())["contexts"]
    with stack_on(cluster, tmp_path / "project") as stack:
        stack.configure(jobs={}, kubernetes=stack.connection(kubeconfig=str(mine)))
        created = stack.workspace.up()
        assert created.code == 0, created
        stack.configure(
            jobs={}, kubernetes={"context": context["name"], "namespace": stack.namespace}
        )
        stack.workspace.environment["KUBECONFIG"] = f"{tmp_path}/none:{mine}"
        moved = stack.workspace.up()
        assert moved.code == 0, moved
        # It is the same cluster, however it is named.
        assert "replaced" not in summary(moved), moved
        assert str(tmp_path / "mine") not in stack.workspace.exported()
        # From here on a colleague, whose file lies elsewhere.
        theirs = at_home(mine, tmp_path / "theirs")
        shutil.rmtree(mine.parent)
        stack.workspace.environment["KUBECONFIG"] = str(theirs)
        for done in (stack.workspace.refresh(), stack.workspace.up()):
            assert done.code == 0, done
            assert "change" not in summary(done).replace("unchanged", ""), done
        # A machine that knows no such context is told so, and not to forget all.
        there = names(stack)
        stack.workspace.environment["KUBECONFIG"] = f"{tmp_path}/none"
        for refused in (stack.workspace.refresh(), stack.workspace.destroy()):
            assert refused.code != 0
            assert "Nothing was deleted or forgotten: kubeconfig" in refused.text, refused
            assert "DELETE_UNREACHABLE" not in refused.text, refused
        assert names(stack) == there
        stack.workspace.environment["KUBECONFIG"] = str(theirs)


def test_a_context_that_leads_to_another_cluster(cluster: Cluster, tmp_path: Path) -> None:
    with stack_on(cluster, tmp_path / "project") as stack, api_server(another_cluster) as other:
        file = stack.workspace.path / "kubeconfig"
        shutil.copy2(cluster.kubeconfig, file)
        # Relative to the project, wherever pulumi is called.
        stack.configure(jobs={}, kubernetes=stack.connection(kubeconfig="kubeconfig"))
        created = stack.workspace.up()
        assert created.code == 0, created
        there, known = names(stack), file.read_text()
        # The same one at another URL, as behind a tunnel, is the same.
        (about,) = yaml.safe_load(known)["clusters"]
        url = about["cluster"]["server"]
        file.write_text(known.replace(url, f"{url}/"))
        moved = stack.workspace.up()
        assert moved.code == 0, moved
        assert "replaced" not in summary(moved), moved
        file.write_text(led_to(file, other.url))
        for command in ("preview", "up", "refresh", "destroy"):
            refused: Result = getattr(stack.workspace, command)()
            assert refused.code != 0
            assert f" is another cluster ({other.url}) than the stack's (https://" in refused.text
            assert "DELETE_UNREACHABLE" not in refused.text, refused
            assert names(stack) == there
        assert {request.method for request in other.requests} <= {"GET", "POST"}
        file.write_text(led_to(file, "https://127.0.0.1:1"))
        away = stack.workspace.refresh()
        assert "https://127.0.0.1:1) cannot be reached" in away.text
        assert "failed to read resource state" not in away.text, away
        assert names(stack) == there
        file.write_text(known)


@pytest.fixture
def small_node(stack: ClusterStack) -> Iterator[None]:
    """A simulated one with the label pool=small; other tests count the nodes."""
    nodes = stack.cluster.add_nodes("small", 1, NodeShape(2, "4Gi", labels={"pool": "small"}))
    yield
    stack.cluster.kubectl("delete", "node", *nodes)


@pytest.mark.usefixtures("small_node")
def test_nodes_and_volumes_that_a_job_would_wait_for(stack: ClusterStack) -> None:
    pools = {"small": {"selector": {"pool": "small"}}, "gone": {"selector": {"pool": "gone"}}}
    stack.configure(jobs={}, nodePools=pools)
    created = stack.workspace.up()
    assert created.code == 0, created
    busy = {"image": stack.cluster.busybox, "command": ["true"]}
    jobs = {
        "m": {**busy, "worker": {"cpu": 8, "gpus": 1, "nodePool": "small"}},
        "n": {**busy, "worker": {"nodePool": "gone"}},
    }
    stack.configure(jobs=jobs, nodePools=pools)
    # It is there for as long as its claim is.
    (volume,) = stack.volumes()
    stack.cluster.kubectl("delete", "pv", volume, "--wait=false")
    shown = stack.workspace.preview()
    assert shown.code == 0, shown
    for told in (
        "jobs.m.worker: asks for 8 cpu, and the largest node of node pool small offers 2",
        "jobs.m.worker: asks for nvidia.com/gpu, which no node of node pool small offers",
        f"PersistentVolume {volume} is being deleted: what uses it runs on, and no new pod can",
        "nodePools.gone: there is no such node, and its replicas wait until there is one",
    ):
        assert shown.text.count(told) == 1, shown
    stack.configure(jobs={}, nodePools=pools)
