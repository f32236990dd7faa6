"""The whole of a stack's config."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import PrivateAttr

from config.base import Change, Section, setting
from config.datasets import SAMPLED, Dataset
from config.jobs import Job, Names
from config.kubernetes import Kubernetes
from config.names import Registry
from config.node_pools import NodePool
from config.operator import Operator
from config.storage import Storage
from config.tensorboard import TensorBoard

Target = Literal["local", "kubernetes", "ack"]

AVAILABLE_TARGETS: tuple[Target, ...] = ("local", "kubernetes")


def _samples() -> dict[str, Dataset]:
    return {name: Dataset() for name in SAMPLED}


class Stack(Section):
    """All `ack-training:*` keys of one stack."""

    present_when_empty: ClassVar = frozenset[str]()

    target: Target = setting(
        "Where the stack runs: this machine (local) or an existing cluster (kubernetes). ack is "
        "not available in this version.",
        Change.OTHER_STACK,
        "local",
    )
    jobs: dict[str, Job] = setting(
        "The training jobs by name. A name is a DNS-1035 label, and with its longest replica "
        "suffix (-evaluator-0) at most 63 characters long.",
        Change.REPLACES,
        default_factory=dict,
    )
    tensorboard: TensorBoard = setting(
        "TensorBoard over the logs of every job.",
        Change.RESTARTS,
        default_factory=TensorBoard,
    )
    storage: Storage = setting("The shared storage.", Change.NEW_ROOT, default_factory=Storage)
    kubernetes: Kubernetes = setting(
        "The cluster, for target: kubernetes.", Change.OTHER_CLUSTER, default_factory=Kubernetes
    )
    node_pools: dict[str, NodePool] = setting(
        "Node pools by name, a DNS-1035 label. Not used on local.",
        Change.REPLACES,
        default_factory=dict,
    )
    operator: Operator = setting(
        "The training operator. Not used on local.", Change.RESTARTS, default_factory=Operator
    )
    image_registry: Registry | None = setting(
        "Registry, with path, that every image of the stack comes from: "
        "registry.example.com/team has example.org/tools/name:1 pulled as "
        "registry.example.com/team/name:1. `make image` puts them there. Not used on local.",
        Change.REPLACES,
    )
    image_pull_secrets: Names = setting(
        "Secrets to pull images with, in the namespaces of the jobs and of the operator. Not used "
        "on local.",
        Change.REPLACES,
        (),
    )
    datasets: dict[str, Dataset] = setting(
        "Datasets by name, a DNS-1035 label. When absent: mnist, from the sample.",
        Change.FILLS,
        default_factory=_samples,
    )

    _notices: tuple[str, ...] = PrivateAttr(default=())
    _region: str | None = PrivateAttr(default=None)

    @property
    def notices(self) -> tuple[str, ...]:
        """Lines worth telling the user that are no errors, sorted by path."""
        return self._notices

    @property
    def region(self) -> str | None:
        """The region of Alibaba Cloud that the stack's file names, by `alicloud:region`."""
        return self._region

    def settle(self, notices: tuple[str, ...], opaque: bool, region: str | None) -> None:
        """Completes the stack with what its reader found; done once, when it is read."""
        self._notices = notices
        self._region = region
        for name, job in self.jobs.items():
            job.settle(name, opaque)
