"""TF_CONFIG of every replica, as training-operator v1.9.4 writes it.

https://github.com/kubeflow/training-operator/blob/v1.9.4/pkg/controller.v1/tensorflow/tensorflow.go
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from config.roles import ROLES, Role, replica_name

# The operator's default for the container port named tfjob-port.
PORT = 2222

Address = Callable[[Role, int], str]


def cluster_address(job: str, namespace: str) -> Address:
    """The addresses the operator gives: each replica's headless Service, port 2222."""
    return lambda role, index: f"{replica_name(job, role, index)}.{namespace}.svc:{PORT}"


def tf_config(counts: Mapping[Role, int], role: Role, index: int, address: Address) -> str | None:
    """TF_CONFIG of one replica, byte for byte the operator's; None when it sets none.

    It sets none for a job of one replica in all, which then trains as a single process. The
    evaluator counts and stands in `cluster` like every other role. ValueError when the job has
    no such replica.
    """
    if not 0 <= index < counts.get(role, 0):
        raise ValueError(f"the job has no {role} {index}")
    if sum(counts.values()) == 1:
        return None
    cluster = {
        # Go writes the keys of a map sorted, and those of a struct in the order it is declared.
        name: [address(name, replica) for replica in range(counts[name])]
        for name in sorted(ROLES)
        if counts.get(name, 0)
    }
    return json.dumps(
        {"cluster": cluster, "task": {"type": role, "index": index}, "environment": "cloud"},
        separators=(",", ":"),
    )
