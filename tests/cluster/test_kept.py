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
