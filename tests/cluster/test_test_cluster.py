"""The test cluster is what its users take it for."""

import json
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.cluster.handle import Cluster
from tests.cluster.pods import pod, service
from tests.cluster.waiting import until
from toolchain.cluster.simulated_nodes import NodeShape


def log_of(cluster: Cluster, namespace: str, name: str) -> str:
    """The log of a pod that must end well."""
    until = "--for=jsonpath={.status.phase}=Succeeded"
    cluster.kubectl("wait", "-n", namespace, f"pod/{name}", until, "--timeout=60s")
    return cluster.kubectl("logs", "-n", namespace, name)


def await_ready(cluster: Cluster, namespace: str, name: str) -> None:
    ready = "--for=condition=Ready"
    cluster.kubectl("wait", "-n", namespace, f"pod/{name}", ready, "--timeout=60s")


def test_its_node_is_ready_and_says_the_version_it_was_built_as(cluster: Cluster) -> None:
    nodes = cluster.get("nodes")["items"]
    ready = {
        condition["status"]
        for node in nodes
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready"
    }
    assert ready == {"True"}
    versions = json.loads(cluster.kubectl("version", "-o", "json"))
    assert versions["serverVersion"]["gitVersion"].startswith("v1.")


def test_a_pod_runs_and_its_log_can_be_read(cluster: Cluster, namespace: str) -> None:
    cluster.apply(pod(namespace, "speaker", cluster.busybox, "echo hello from $(hostname)"))
    assert log_of(cluster, namespace, "speaker") == "hello from speaker\n"


def test_commands_run_in_a_pod_and_its_ports_can_be_reached(
    cluster: Cluster, namespace: str
) -> None:
    script = "echo a page >/tmp/index.html; exec httpd -f -p 8080 -h /tmp"
    cluster.apply(pod(namespace, "web", cluster.busybox, script))
    await_ready(cluster, namespace, "web")
    said = cluster.kubectl("exec", "-n", namespace, "web", "--", "cat", "/tmp/index.html")
    assert said == "a page\n"
    command = [str(cluster.kubectl_program), f"--kubeconfig={cluster.kubeconfig}", "-n", namespace]
    with subprocess.Popen(
        [*command, "port-forward", "pod/web", ":8080"], stdout=subprocess.PIPE, text=True
    ) as forwarding:
        try:
            assert forwarding.stdout is not None
            # Forwarding from 127.0.0.1:PORT -> 8080
            address = forwarding.stdout.readline().split()[2]
            with urllib.request.urlopen(f"http://{address}/", timeout=30) as answer:
                assert answer.read() == b"a page\n"
        finally:
            forwarding.kill()


def test_pods_find_each_other_by_the_names_of_services(cluster: Cluster, namespace: str) -> None:
    """As the replicas of a TFJob do: a headless service for each pod, named `<service>.<namespace>
    .svc`; and through a service address as well."""
    script = "echo found >/tmp/index.html; exec httpd -f -p 2222 -h /tmp"
    cluster.apply(
        pod(namespace, "job-worker-0", cluster.busybox, script),
        service(namespace, "job-worker-0", 2222, clusterIP="None"),
        service(
            namespace,
            "front",
            80,
            selector={"app": "job-worker-0"},
            ports=[{"port": 80, "targetPort": 2222}],
        ),
    )
    await_ready(cluster, namespace, "job-worker-0")
    address = cluster.get("-n", namespace, "pod", "job-worker-0")["status"]["podIP"]
    ask = f"until getent hosts job-worker-0.{namespace}.svc; do sleep 0.2; done"
    fetch = "until wget -q -O - http://front/; do sleep 0.2; done"
    cluster.apply(pod(namespace, "asker", cluster.busybox, f"{ask}; {fetch}"))
    said = log_of(cluster, namespace, "asker").split()
    assert said[0] == address
    assert said[-1] == "found"


def test_a_volume_of_a_folder_of_the_machine(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    if cluster.place is None:
        pytest.skip("not in a given cluster: its nodes have other folders")
    volume = f"{namespace}-volume"
    capacity = {"storage": "1Gi"}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": volume},
            "spec": {
                "capacity": capacity,
                "accessModes": ["ReadWriteMany"],
                "hostPath": {"path": str(tmp_path)},
                "storageClassName": "",
                "claimRef": {"name": "claim", "namespace": namespace},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "claim", "namespace": namespace},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "resources": {"requests": capacity},
                "storageClassName": "",
                "volumeName": volume,
            },
        },
        pod(
            namespace,
            "writer",
            cluster.busybox,
            "echo kept >/data/file; echo written",
            container={"volumeMounts": [{"name": "data", "mountPath": "/data"}]},
            spec={"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}]},
        ),
    )
    try:
        assert log_of(cluster, namespace, "writer") == "written\n"
        assert (tmp_path / "file").read_text() == "kept\n"
    finally:
        cluster.kubectl("delete", "persistentvolume", volume, "--wait=false")


def test_a_user_without_a_role_may_do_nothing(cluster: Cluster, namespace: str) -> None:
    user = cluster.user("unprivileged")
    ran = cluster.run("get", "pods", "-n", namespace, kubeconfig=user)
    assert ran.returncode != 0
    assert 'User "unprivileged" cannot list resource "pods"' in ran.stderr


def test_a_role_binding_lets_a_user_do_what_it_says(cluster: Cluster, namespace: str) -> None:
    user = cluster.user("viewer", ["team"])
    cluster.kubectl(
        *("create", "rolebinding", "view", "-n", namespace, "--clusterrole=view", "--group=team")
    )
    ask = ("auth", "can-i", "list", "pods", "-n", namespace)
    # The API server's authorizer learns of the binding a moment later.
    until(lambda: cluster.run(*ask, kubeconfig=user).stdout == "yes\n")
    assert cluster.run("auth", "can-i", "delete", "pods", kubeconfig=user).stdout == "no\n"


def test_pod_security_refuses_a_privileged_pod(cluster: Cluster, namespace: str) -> None:
    level = "pod-security.kubernetes.io/enforce=baseline"
    cluster.kubectl("label", "namespace", namespace, level)
    privileged = {"securityContext": {"privileged": True}}
    refused = pod(namespace, "privileged", cluster.busybox, "true", container=privileged)
    ran = cluster.run("create", "-f", "-", stdin=json.dumps(refused))
    assert ran.returncode != 0
    assert 'violates PodSecurity "baseline' in ran.stderr
    cluster.apply(pod(namespace, "plain", cluster.busybox, "echo allowed"))
    assert log_of(cluster, namespace, "plain") == "allowed\n"


def test_an_image_that_is_not_there_is_told_at_once(cluster: Cluster, namespace: str) -> None:
    if cluster.place is None:
        pytest.skip("not in a given cluster: how soon depends on its registry")
    cluster.apply(pod(namespace, "missing", "test.local/no-such-image:1", "true"))
    waiting = "{.status.containerStatuses[0].state.waiting.reason}"
    cluster.kubectl(
        *("wait", "-n", namespace, "pod/missing", "--timeout=60s"),
        f"--for=jsonpath={waiting}=ErrImagePull",
    )


def test_a_simulated_gpu_node_takes_pods_that_ask_for_gpus(
    cluster: Cluster, namespace: str
) -> None:
    name = f"{namespace}-gpu"
    nodes = cluster.add_nodes(name, 2, NodeShape(8, "64Gi", gpus=4, labels={"pool": name}))
    taint = {"key": "kwok.x-k8s.io/node", "operator": "Exists"}
    asks = {"resources": {"limits": {"nvidia.com/gpu": "3"}}}
    spec = {"tolerations": [taint], "nodeSelector": {"pool": name}}
    names = [f"trainer-{number}" for number in range(3)]
    pods = [
        pod(namespace, each, "any.local/image:1", "true", container=asks, spec=spec)
        for each in names
    ]
    try:
        cluster.apply(*pods[:2])
        for each in names[:2]:
            running = "--for=jsonpath={.status.phase}=Running"
            cluster.kubectl("wait", "-n", namespace, f"pod/{each}", running, "--timeout=60s")
        placed = {one["spec"]["nodeName"] for one in cluster.get("-n", namespace, "pods")["items"]}
        assert placed == set(nodes)
        # Each node has one GPU left.
        cluster.apply(pods[2])
        unplaced = "--for=condition=PodScheduled=False"
        cluster.kubectl("wait", "-n", namespace, f"pod/{names[2]}", unplaced, "--timeout=60s")
        conditions = cluster.get("-n", namespace, "pod", names[2])["status"]["conditions"]
        assert "2 Insufficient nvidia.com/gpu" in conditions[0]["message"]
    finally:
        cluster.kubectl("delete", "pods", "-n", namespace, "--all")
        cluster.kubectl("delete", "node", *nodes)
