"""Training jobs for tests of a real cluster: a shell in the place of a program."""

import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from cluster.applied import Applied, applied
from cluster.client import Cluster
from cluster.connection import Connection
from cluster.errors import RefusedError
from cluster.observe import job_path, read_job
from cluster.seen import GENERATION
from provider.cluster.training_run import TrainingRun
from provider.kinds import Call, NotReady, Properties, ProviderError

SHELL = "shell"
"""In a container, the image with a shell, whatever its name is in the cluster."""

OWNER = "pulumi-kubernetes-0a1b2c3d"
"""The field manager of what the tests declare, as pulumi-kubernetes makes them up."""

PATIENCE_SECONDS = 120.0


def until(done: Callable[[], bool], what: str) -> None:
    """Returns once `done`; fails, saying `what`, when that never comes."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < limit, what
        time.sleep(0.2)


def role(script: str, replicas: int = 1, policy: str = "Never", **pod: Any) -> dict[str, Any]:
    """A role of a TFJob whose replicas run `script`. `pod` is more of its pod's spec; of that,
    `container` is more of its container."""
    container = {
        "name": "tensorflow",
        "image": SHELL,
        "command": ["sh", "-c", script],
        **pod.pop("container", {}),
    }
    return {
        "replicas": replicas,
        "restartPolicy": policy,
        "template": {
            "metadata": {"annotations": {GENERATION: "first"}},
            "spec": {"terminationGracePeriodSeconds": 1, **pod, "containers": [container]},
        },
    }


@dataclass
class Jobs:
    """The jobs of one namespace, and what was told of them."""

    kubeconfig: str
    image: str
    cluster: Cluster
    namespace: str
    told: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, kubeconfig: str, image: str, namespace: str, labels: Mapping[str, str]) -> "Jobs":
        cluster = Connection(kubeconfig).open()
        body = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace, "labels": dict(labels)},
        }
        cluster.apply(f"/api/v1/namespaces/{namespace}", body, "tests")
        jobs = cls(kubeconfig, image, cluster, namespace)
        # Without it no pod can be created.
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        until(lambda: jobs.has(path), "the namespace has no service account")
        return jobs

    def has(self, path: str) -> bool:
        try:
            self.cluster.get(path)
        except RefusedError as error:
            assert error.not_found, error
            return False
        return True

    def make_object(self, kind: str, name: str, **content: Any) -> None:
        body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **content}
        path = f"/api/v1/namespaces/{self.namespace}/{kind.lower()}s/{name}"
        self.cluster.apply(path, body, "tests")

    def declare(self, name: str, roles: Mapping[str, Any], **policy: Any) -> None:
        """Afterwards the TFJob is declared, as pulumi-kubernetes declares it."""
        body = {
            "apiVersion": "kubeflow.org/v1",
            "kind": "TFJob",
            "metadata": {"name": name, "annotations": {GENERATION: "first"}},
            "spec": {
                "runPolicy": {"cleanPodPolicy": "Running", "suspend": False, **policy},
                "tfReplicaSpecs": {name: self._with_image(found) for name, found in roles.items()},
            },
        }
        self.cluster.apply(job_path(self.namespace, name), body, OWNER)

    def _with_image(self, role: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = deepcopy(dict(role))
        for container in found["template"]["spec"]["containers"]:
            if container["image"] == SHELL:
                container["image"] = self.image
        return found

    def inputs(self, name: str, **changes: Any) -> Properties:
        return {
            "connection": {"kubeconfig": self.kubeconfig},
            "namespace": self.namespace,
            "name": name,
            "roles": {"worker": {"replicas": 1}},
            "args": [],
            "run": 1,
            "command": ["sh"],
            "suspend": False,
            "wait": "succeeded",
            "waitTimeoutSeconds": None,
            "generation": "first",
            "autoscaled": False,
            "operatorNamespace": "kubeflow",
            **changes,
        }

    def call(self, name: str, outputs: Properties | None = None, **changes: Any) -> Call:
        """A second `up`, where there are `outputs` of a first."""
        inputs = self.inputs(name, **changes)
        return Call(
            inputs=inputs,
            old_inputs=inputs if outputs is not None else {},
            outputs=outputs or {},
            announce=self.told.append,
        )

    def up(self, name: str, **changes: Any) -> str:
        """The state that an `up` ends with."""
        return self._state(TrainingRun().create(self.call(name, **changes)), name)

    def up_again(self, call: Call) -> str:
        return self._state(TrainingRun().update(call), call.inputs["name"])

    def _state(self, outputs: Properties, name: str) -> str:
        assert outputs["uid"] == self.live(name)["metadata"]["uid"]
        return str(outputs["state"])

    def failing_up(self, name: str, **changes: Any) -> str:
        """What an `up` that fails says."""
        try:
            found = self.up(name, **changes)
        except (NotReady, ProviderError) as error:
            return str(error)
        raise AssertionError(f"{name} did not fail: {found}")

    def live(self, name: str) -> dict[str, Any]:
        found = read_job(self.cluster, self.namespace, name)
        assert found is not None, f"there is no TFJob {name}"
        return found

    def declared(self, name: str) -> Applied:
        return applied(self.live(name))

    def pods(self, name: str) -> list[dict[str, Any]]:
        selector = f"training.kubeflow.org/job-name={name}"
        found = self.cluster.get(
            f"/api/v1/namespaces/{self.namespace}/pods", labelSelector=selector
        )
        return list(found["items"])
