"""The whole of a stack's config."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import PrivateAttr

from config.base import Change, Section, setting
from config.datasets import SAMPLED, Dataset
from config.jobs import Job
from config.storage import Storage
from config.tensorboard import TensorBoard

Target = Literal["local", "kubernetes", "ack"]

AVAILABLE_TARGETS: tuple[Target, ...] = ("local",)


def _samples() -> dict[str, Dataset]:
    return {name: Dataset() for name in SAMPLED}


class Stack(Section):
    """All `ack-training:*` keys of one stack."""

    present_when_empty: ClassVar = frozenset[str]()

    target: Target = setting(
        "Where the stack runs: this machine (local). kubernetes and ack are not available in "
        "this version.",
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
    datasets: dict[str, Dataset] = setting(
        "Datasets by name, a DNS-1035 label. When absent: mnist, from the sample.",
        Change.FILLS,
        default_factory=_samples,
    )

    _notices: tuple[str, ...] = PrivateAttr(default=())

    @property
    def notices(self) -> tuple[str, ...]:
        """Lines worth telling the user that are no errors, sorted by path."""
        return self._notices

    def settle(self, notices: tuple[str, ...], opaque: bool) -> None:
        """Completes the stack with what its reader found; done once, when it is read."""
        self._notices = notices
        for name, job in self.jobs.items():
            job.settle(name, opaque)
