"""What others put where a stack is stays when the stack goes."""

from tests.cluster.stacks import ClusterStack
from workloads.pods import Manifest

LEASE: Manifest = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "of-another"},
}
BUDGET: Manifest = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "of-another"},
    "spec": {"selector": {"matchLabels": {"app": "of-another"}}, "minAvailable": 1},
}
SLICE: Manifest = {
    "apiVersion": "discovery.k8s.io/v1",
    "kind": "EndpointSlice",
    "metadata": {"name": "of-another"},
    "addressType": "IPv4",
    "endpoints": [],
}
TFJOB: Manifest = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "TFJob",
    "metadata": {"name": "of-another"},
    "spec": {
        "runPolicy": {"suspend": True},
        "tfReplicaSpecs": {
            "Worker": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "x"}]}}}
        },
    },
}


OF_ANOTHER = (LEASE, BUDGET, SLICE, TFJOB)


def _kind(manifest: Manifest) -> str:
    return f"{manifest['kind'].lower()}s.{manifest['apiVersion'].partition('/')[0]}"


def test_a_namespace_with_objects_of_another_is_kept(stack: ClusterStack) -> None:
    stack.configure(tensorboard={"enabled": True})
    created = stack.workspace.up()
    assert created.code == 0, created
    for manifest in OF_ANOTHER:
        metadata = {**manifest["metadata"], "namespace": stack.namespace}
        stack.cluster.apply({**manifest, "metadata": metadata})
    destroyed = stack.workspace.destroy()
    assert destroyed.code == 0, destroyed
    assert f"Namespace {stack.namespace} is kept: it holds " in destroyed.text
    for manifest in OF_ANOTHER:
        stack.kubectl("delete", _kind(manifest), "of-another")
    # All that was the stack's own is gone: the next one can be made, and goes as a whole.
    again = stack.workspace.up()
    assert again.code == 0, again
    destroyed = stack.workspace.destroy()
    assert destroyed.code == 0, destroyed
    assert "NotFound" in stack.cluster.run("get", "namespace", stack.namespace).stderr


def test_a_claim_that_was_kept_is_taken_up_by_the_next_stack(stack: ClusterStack) -> None:
    """As the claim of a StorageClass is, whose volume goes with it."""
    name = stack.namespace
    stack.cluster.apply(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": "kubernetes.io/no-provisioner",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "storageClassName": name,
                "capacity": {"storage": "200Gi"},
                "accessModes": ["ReadWriteMany"],
                "hostPath": {"path": str(stack.volume)},
            },
        },
    )
    try:
        stack.configure(storage={"storageClass": name})
        for _ in range(2):
            up = stack.workspace.up()
            assert up.code == 0, up
            (claim,) = stack.get("persistentvolumeclaims")["items"]
            destroyed = stack.workspace.destroy()
            assert destroyed.code == 0, destroyed
            kept = f"Namespace {name} is kept: it holds persistentvolumeclaims "
            assert f"{kept}{claim['metadata']['name']}" in destroyed.text
    finally:
        stack.cluster.kubectl("delete", "namespace", name, "--ignore-not-found", "--wait=false")
        stack.cluster.kubectl("delete", "persistentvolume", name, "--wait=false")
        stack.cluster.kubectl("delete", "storageclass", name)
