"""The real training operator, with the rights and the restrictions that this project gives it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.handle import Cluster
from tests.cluster.operator import Operator, installed
from tests.cluster.waiting import until

FOREVER = "sleep 2147483647"
POD_GROUPS = {"scheduling.volcano.sh": "v1beta1", "scheduling.x-k8s.io": "v1alpha1"}


@pytest.fixture(scope="module")
def pod_group_kinds(cluster: Cluster) -> Iterator[None]:
    """What gang schedulers bring, as far as the operator asks. Where they are in the cluster it
    watches them, gang scheduling or not."""
    definitions = [pod_group_definition(group, version) for group, version in POD_GROUPS.items()]
    names = [f"crd/{each['metadata']['name']}" for each in definitions]
    cluster.apply(*definitions)
    cluster.kubectl("wait", "--for=condition=Established", *names, "--timeout=60s")
    yield
    cluster.kubectl("delete", *names)


@pytest.fixture(scope="module")
def operator(
    cluster: Cluster,
    pod_group_kinds: None,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Operator]:
    """With the gang scheduler that the test names."""
    with installed(cluster, tmp_path_factory.mktemp("operator"), request.param) as running:
        yield running
        assert running.refused() == []
        assert running.restarts() == 0


without_gang = pytest.mark.parametrize("operator", [None], indirect=True)


@pytest.fixture
def jobs(cluster: Cluster, namespace: str) -> Iterator[str]:
    """Another namespace than the operator's. Its jobs are gone before it is."""
    yield namespace
    cluster.kubectl("delete", "tfjobs", "--all", "-n", namespace)


def tfjob(
    cluster: Cluster,
    namespace: str,
    name: str,
    roles: dict[str, str],
    *,
    restart: str = "Never",
    pod: dict[str, Any] | None = None,
    **policy: Any,
) -> dict[str, Any]:
    """A job whose roles run a shell script each."""
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "runPolicy": policy,
            "tfReplicaSpecs": {
                role: {
                    "replicas": 1,
                    "restartPolicy": restart,
                    "template": {
                        "spec": {
                            "terminationGracePeriodSeconds": 0,
                            "containers": [
                                {
                                    "name": "tensorflow",
                                    "image": cluster.busybox,
                                    "command": ["sh", "-c", script],
                                }
                            ],
                            **(pod or {}),
                        }
                    },
                }
                for role, script in roles.items()
            },
        },
    }


def wait(cluster: Cluster, namespace: str, name: str, condition: str) -> None:
    arguments = ("wait", "-n", namespace, f"tfjob/{name}", f"--for={condition}", "--timeout=120s")
    cluster.kubectl(*arguments)


def pods(cluster: Cluster, namespace: str, name: str) -> set[str]:
    selector = f"training.kubeflow.org/job-name={name}"
    found = cluster.get("pods", "-n", namespace, "-l", selector)["items"]
    return {pod["metadata"]["name"] for pod in found}


@without_gang
def test_each_end_of_a_job(cluster: Cluster, operator: Operator, jobs: str) -> None:
    cluster.apply(
        tfjob(
            cluster, jobs, "good", {"Chief": "true", "Worker": FOREVER}, cleanPodPolicy="Running"
        ),
        tfjob(
            cluster,
            jobs,
            "failing",
            {"Chief": "exit 1", "Worker": FOREVER},
            restart="OnFailure",
            backoffLimit=1,
            cleanPodPolicy="All",
        ),
        tfjob(
            cluster,
            jobs,
            "late",
            {"Worker": FOREVER},
            pod={"activeDeadlineSeconds": 2},
            activeDeadlineSeconds=2,
            cleanPodPolicy="All",
        ),
        tfjob(cluster, jobs, "short-lived", {"Worker": "true"}, ttlSecondsAfterFinished=1),
        tfjob(cluster, jobs, "retried", {"Worker": "exit 137"}, restart="ExitCode"),
        tfjob(cluster, jobs, "halted", {"Worker": FOREVER}),
    )
    wait(cluster, jobs, "good", "condition=Succeeded")
    until(lambda: pods(cluster, jobs, "good") == {"good-chief-0"})
    wait(cluster, jobs, "failing", "condition=Failed")
    until(lambda: pods(cluster, jobs, "failing") == set())
    wait(cluster, jobs, "late", "condition=Failed")
    until(lambda: pods(cluster, jobs, "late") == set())
    wait(cluster, jobs, "short-lived", "delete")
    wait(cluster, jobs, "retried", "condition=Restarting")
    wait(cluster, jobs, "halted", "condition=Running")
    suspend = '{"spec": {"runPolicy": {"suspend": true}}}'
    cluster.kubectl("patch", "tfjob", "halted", "-n", jobs, "--type=merge", "-p", suspend)
    wait(cluster, jobs, "halted", "condition=Suspended")
    until(lambda: pods(cluster, jobs, "halted") == set())


@without_gang
def test_its_webhook_refuses_what_is_no_job(
    cluster: Cluster, operator: Operator, jobs: str
) -> None:
    job = tfjob(cluster, jobs, "1-digit-first", {"Worker": "true"})
    with pytest.raises(AssertionError, match=r"denied the request.*metadata\.name"):
        cluster.apply(job)


@pytest.mark.parametrize(
    ("operator", "group"),
    [
        (None, None),
        ("volcano", "scheduling.volcano.sh"),
        ("scheduler-plugins-scheduler", "scheduling.x-k8s.io"),
    ],
    indirect=["operator"],
)
def test_pod_groups(cluster: Cluster, operator: Operator, group: str | None, jobs: str) -> None:
    cluster.apply(tfjob(cluster, jobs, "gang", {"Worker": FOREVER}))
    if group is None:
        wait(cluster, jobs, "gang", "condition=Running")
    else:
        until(lambda: bool(groups(cluster, jobs, group)))
    suspend = '{"spec": {"runPolicy": {"suspend": true}}}'
    cluster.kubectl("patch", "tfjob", "gang", "-n", jobs, "--type=merge", "-p", suspend)
    wait(cluster, jobs, "gang", "condition=Suspended")
    assert [name for each in POD_GROUPS for name in groups(cluster, jobs, each)] == []


def groups(cluster: Cluster, namespace: str, group: str) -> list[str]:
    found = cluster.get(f"podgroups.{group}", "-n", namespace)["items"]
    return [each["metadata"]["name"] for each in found]


def pod_group_definition(group: str, version: str) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"podgroups.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "PodGroup", "plural": "podgroups", "singular": "podgroup"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }
