"""Reads TF_CONFIG: who this replica is, who its peers are, and which way it trains.

TF_CONFIG's format is TensorFlow's; the training operator differs from what TensorFlow's
strategies take in two ways, which are put right here: it calls the chief `master` if the job does,
and it lists the evaluator inside `cluster`. TensorFlow is not imported.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from runtime.errors import ReplicaError

ROLES = ("chief", "worker", "ps", "evaluator")

OPERATOR_TF_CONFIG = "ACK_TRAINING_OPERATOR_TF_CONFIG"
"""Where the launcher keeps TF_CONFIG as the operator wrote it, once it has set TF_CONFIG to what
TensorFlow accepts, which no longer tells whether the job has an evaluator."""


class Mode(StrEnum):
    """How a replica takes part in training."""

    SINGLE = "single"
    MULTI_WORKER_MIRRORED = "multiWorkerMirrored"
    PARAMETER_SERVER = "parameterServer"
    EVALUATOR = "evaluator"


@dataclass(frozen=True)
class Replica:
    """One replica of the job; `address` is `host:port`, empty when it has none."""

    role: str
    index: int
    address: str = ""

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"

    def __str__(self) -> str:
        return f"{self.name} ({self.address})" if self.address else self.name

    @property
    def host_port(self) -> tuple[str, int]:
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)


@dataclass(frozen=True)
class Cluster:
    """The replicas of a job as TensorFlow's strategies take them, seen from one of them.

    `replicas` leaves the evaluator out, for it is no member of a TensorFlow cluster.
    """

    task: Replica
    replicas: tuple[Replica, ...] = ()
    has_evaluator: bool = False

    @property
    def mode(self) -> Mode:
        if self.task.role == "evaluator":
            return Mode.EVALUATOR
        if self.of_role("ps"):
            return Mode.PARAMETER_SERVER
        if len(self.replicas) > 1:
            return Mode.MULTI_WORKER_MIRRORED
        return Mode.SINGLE

    @property
    def leader(self) -> Replica:
        """The chief, else worker 0: it writes checkpoints, curves and exports."""
        for replica in self.of_role("chief") + self.of_role("worker"):
            return replica
        return self.task

    @property
    def is_leader(self) -> bool:
        return self.task == self.leader

    @property
    def peers(self) -> tuple[Replica, ...]:
        return tuple(replica for replica in self.replicas if replica != self.task)

    @property
    def writer(self) -> str:
        """Name of this replica's log directory: its role, numbered if that role has several."""
        several = len(self.of_role(self.task.role)) > 1
        return self.task.name if several else self.task.role

    def of_role(self, role: str) -> tuple[Replica, ...]:
        return tuple(replica for replica in self.replicas if replica.role == role)

    def addresses(self) -> dict[str, list[str]]:
        """The cluster as tf.train.ClusterSpec takes it."""
        found: dict[str, list[str]] = {}
        for replica in self.replicas:
            found.setdefault(replica.role, []).append(replica.address)
        return found

    def tf_config(self) -> str:
        """TF_CONFIG as TensorFlow's own resolvers accept it."""
        return json.dumps(
            {
                "cluster": self.addresses(),
                "task": {"type": self.task.role, "index": self.task.index},
            }
        )


def read_cluster(environment: Mapping[str, str]) -> Cluster:
    """The cluster TF_CONFIG describes; without TF_CONFIG, a cluster of one process.

    The operator omits TF_CONFIG when a job has exactly one replica, whose role is then given by
    ACK_TRAINING_REPLICA, such as worker-0 (default: chief).
    Raises ReplicaError, one line, when TF_CONFIG is malformed or describes what TensorFlow cannot
    run.
    """
    text = (environment.get(OPERATOR_TF_CONFIG) or environment.get("TF_CONFIG", "")).strip()
    if not text:
        name = environment.get("ACK_TRAINING_REPLICA", "")
        role = name.rpartition("-")[0] or name or "chief"
        return Cluster(task=Replica(_role_named(role, "ACK_TRAINING_REPLICA"), 0))
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise ReplicaError(f"TF_CONFIG is not JSON: {error}") from None
    if not isinstance(config, dict):
        raise ReplicaError("TF_CONFIG must be a JSON object with the keys cluster and task")
    members = _members(config.get("cluster", {}))
    role, index = _task(config.get("task"))
    return _assemble(members, role, index)


def _members(cluster: Any) -> dict[str, list[str]]:
    if not isinstance(cluster, dict):
        raise ReplicaError("TF_CONFIG: cluster must be an object of role to list of host:port")
    if "chief" in cluster and "master" in cluster:
        raise ReplicaError("TF_CONFIG: cluster has both chief and master; they name the same role")
    members: dict[str, list[str]] = {}
    for key, addresses in cluster.items():
        role = _role_named(key, f"TF_CONFIG: cluster.{key}")
        if not addresses:
            continue
        if not isinstance(addresses, list):
            raise ReplicaError(
                f"TF_CONFIG: cluster.{key} must be a list of host:port"
                " (sparse clusters of dynamic workers are not supported)"
            )
        for position, address in enumerate(addresses):
            _check_address(address, f"TF_CONFIG: cluster.{key}[{position}]")
        members[role] = addresses
    everyone = [address for addresses in members.values() for address in addresses]
    for address in everyone:
        if everyone.count(address) > 1:
            raise ReplicaError(f"TF_CONFIG: cluster has the address {address} more than once")
    return members


def _check_address(address: Any, where: str) -> None:
    if isinstance(address, str):
        host, separator, port = address.rpartition(":")
        digits = port.isascii() and port.isdigit() and len(port) < 6
        # Without brackets nobody can tell where an IPv6 address ends and its port begins.
        plain = ":" not in host or (host.startswith("[") and host.endswith("]"))
        if separator and host and plain and digits and 0 < int(port) < 65536:
            return
    raise ReplicaError(f"{where} is {address!r}, not host:port or [IPv6]:port")


def _task(task: Any) -> tuple[str, int]:
    if not isinstance(task, dict):
        raise ReplicaError("TF_CONFIG: task must be an object with the keys type and index")
    role = _role_named(task.get("type"), "TF_CONFIG: task.type")
    index = task.get("index")
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        raise ReplicaError(f"TF_CONFIG: task.index is {index!r}, not a number from 0 up")
    return role, index


def _assemble(members: dict[str, list[str]], role: str, index: int) -> Cluster:
    evaluators = members.pop("evaluator", [])
    if role == "evaluator":
        if index >= max(len(evaluators), 1):
            raise ReplicaError(_out_of_range(role, index, len(evaluators)))
    elif members:
        if role not in members:
            raise ReplicaError(f"TF_CONFIG: task.type is {role!r}, which the cluster does not have")
        if index >= len(members[role]):
            raise ReplicaError(_out_of_range(role, index, len(members[role])))
    if len(members.get("chief", ())) > 1:
        raise ReplicaError("TF_CONFIG: cluster.chief has several addresses; a job has one chief")
    if "ps" in members:
        for needed in ("chief", "worker"):
            if needed not in members:
                raise ReplicaError(
                    f"TF_CONFIG: cluster has ps but no {needed};"
                    " training with parameter servers needs a chief and a worker"
                )
    replicas = tuple(
        Replica(name, position, address)
        for name in ROLES
        for position, address in enumerate(members.get(name, ()))
    )
    address = evaluators[index] if role == "evaluator" and evaluators else ""
    task = next((r for r in replicas if (r.role, r.index) == (role, index)), None)
    return Cluster(task or Replica(role, index, address), replicas, bool(evaluators))


def _out_of_range(role: str, index: int, count: int) -> str:
    return f"TF_CONFIG: task.index is {index}, but the cluster has {count} of {role}"


def _role_named(role: Any, where: str) -> str:
    if role == "master":
        return "chief"
    if role in ROLES:
        return str(role)
    near = difflib.get_close_matches(str(role), ROLES, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ReplicaError(f"{where}: {role!r} is none of {', '.join(ROLES)}{hint}")
