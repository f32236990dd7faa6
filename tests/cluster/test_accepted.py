"""What the config's schema accepts, the API server accepts: each object of a stack, each pod."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from cluster.client import Cluster as Client
from cluster.connection import Connection
from cluster.errors import RefusedError
from config import Stack, parse
from config.docs import EXAMPLE
from tests.cluster.declared import declared
from tests.cluster.handle import Cluster
from tests.config.valid_jobs import PRIORITY_CLASSES
from tests.config.valid_stacks import valid_stacks
from workloads.pods import Manifest

_ROOT = Path(__file__).resolve().parents[2]
_FIXTURES = sorted((_ROOT / "tests" / "config" / "fixtures").glob("*.happy.yaml"))
_STACKS = [*_FIXTURES, EXAMPLE, *sorted(_ROOT.glob("Pulumi.*.yaml"))]
_FIXTURES_CLASS = "high"
_AT_ONCE = 8

_PATHS = {
    "Namespace": "/api/v1/namespaces",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "PersistentVolumeClaim": "/api/v1/{}/persistentvolumeclaims",
    "ConfigMap": "/api/v1/{}/configmaps",
    "Secret": "/api/v1/{}/secrets",
    "Service": "/api/v1/{}/services",
    "Pod": "/api/v1/{}/pods",
    "Deployment": "/apis/apps/v1/{}/deployments",
    "Job": "/apis/batch/v1/{}/jobs",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/{}/networkpolicies",
    "TFJob": "/apis/kubeflow.org/v1/{}/tfjobs",
}


class Server:
    """The API server as the judge of stacks; nothing of them is kept.

    Pods come into a namespace with Pod Security "restricted"; only a stack that says baseline may
    prepare its volume by a pod that needs no more than that.
    """

    def __init__(self, client: Client, namespaces: Mapping[str, str]) -> None:
        self._client = client
        self._namespaces = namespaces
        self._pool = ThreadPoolExecutor(_AT_ONCE)
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def refusals(self, stack: Stack, project: Path) -> list[str]:
        """What the server says no to."""
        for job in stack.jobs.values():
            if job.program is not None:
                file = project / job.program
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
        security = stack.kubernetes.pod_security
        found = self._pool.map(lambda each: self._ask(each, security), declared(stack, project))
        return [refusal for refusal in found if refusal]

    def _ask(self, manifest: Manifest, security: str) -> str:
        metadata = manifest["metadata"]
        prepares = metadata.get("labels", {}).get("app.kubernetes.io/name") == "volume"
        namespace = self._namespaces[security if prepares else "restricted"]
        if "namespace" in metadata:
            metadata["namespace"] = namespace
        content = json.dumps(manifest, sort_keys=True)
        with self._lock:
            if content in self._known:
                return ""
            self._known.add(content)
        path = _PATHS[manifest["kind"]].format(f"namespaces/{namespace}")
        try:
            self._client.apply(
                f"{path}/{metadata['name']}",
                manifest,
                "test",
                dryRun="All",
                fieldValidation="Strict",
            )
        except RefusedError as error:
            return f"{manifest['kind']} {metadata['name']}: {error}"
        return ""


@pytest.fixture(scope="module")
def server(operated: Cluster) -> Iterator[Server]:
    cluster = operated
    namespaces = {each: f"ack-training-test-{each}" for each in ("baseline", "restricted")}
    made = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": each}},
        }
        for each, name in namespaces.items()
    ]
    cluster.apply(*made)
    # A given cluster's own classes stay as they are.
    classes = [name for name in (*PRIORITY_CLASSES, _FIXTURES_CLASS) if _make_class(cluster, name)]
    yield Server(Connection(kubeconfig=str(cluster.kubeconfig)).open(), namespaces)
    cluster.kubectl("delete", "namespace", *namespaces.values(), "--wait=false")
    cluster.kubectl("delete", "priorityclass", "--ignore-not-found", *classes)


def _make_class(cluster: Cluster, name: str) -> bool:
    return cluster.run("create", "priorityclass", name, "--value=0").returncode == 0


def on_a_cluster(file: Path) -> dict[str, Any]:
    """The config of a stack's file; that of a local one with what a cluster needs."""
    written = yaml.safe_load(file.read_text(encoding="utf-8"))["config"] or {}
    prefix = "ack-training:"
    config = {
        key.removeprefix(prefix): value for key, value in written.items() if key.startswith(prefix)
    }
    if config.get("target", "local") == "local":
        config |= {
            "target": "kubernetes",
            "kubernetes": {"context": "test"},
            "storage": {"claim": "data"},
            # A pool that local does not look up may be named, and must be there.
            "nodePools": _pools(config),
        }
    return config


def _pools(config: Mapping[str, Any]) -> dict[str, Any]:
    roles = [role for job in (config.get("jobs") or {}).values() for role in job.values()]
    named = {role["nodePool"] for role in roles if isinstance(role, dict) and "nodePool" in role}
    pools = {name: pool or {} for name, pool in (config.get("nodePools") or {}).items()}
    return {
        name: {"selector": {"pool": name}, **pools.get(name, {})}
        for name in sorted(named | {*pools})
    }


@pytest.mark.parametrize("file", _STACKS, ids=lambda file: file.name)
def test_a_stack_of_this_project_is_accepted(file: Path, server: Server, tmp_path: Path) -> None:
    assert server.refusals(parse(on_a_cluster(file)), tmp_path) == []


@settings(
    max_examples=200,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(config=valid_stacks())
def test_any_valid_stack_is_accepted(
    config: dict[str, Any], server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert server.refusals(parse(config), tmp_path_factory.mktemp("project")) == []
