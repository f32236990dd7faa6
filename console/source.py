"""Where the views look: what each place that a stack can run on has to offer them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from console.logs import Tell
from console.look import Look
from console.stack_file import StackFileError, read_sections, target_of


class Log(Protocol):
    """The log of one replica. Notes about it go to `tell`, and are no part of it."""

    def now(self, tell: Tell) -> str:
        """What it holds now."""
        ...

    def follow(self, tell: Tell) -> Iterator[str]:
        """What it holds and what is added to it, until the job is over."""
        ...


class Source(Protocol):
    """A stack, wherever it runs. Names that are not there raise NotFoundError, and a cluster that
    cannot be asked ClusterError."""

    poll_seconds: float
    """Time from one look to the next."""

    def look(self) -> Look:
        """The stack as it is now."""
        ...

    def log(self, job: str | None, replica: str | None) -> Log:
        """The log of a replica; where only one is possible, it need not be named."""
        ...

    def tensorboard(self, port: int | None) -> int:
        """Makes TensorBoard open on this machine, at `port` if one is given, and prints its URL;
        the exit code of the view."""
        ...


def open_source(project: Path, stack: str) -> Source:
    """The one place that knows which target the stack is on.

    StackFileError when there is no such stack or its file is wrong.
    """
    state = project / ".ack-training" / stack
    sections = read_sections(project, stack, may_be_absent=state.is_dir())
    if target_of(sections) == "local":
        from console.local.source import LocalSource

        return LocalSource(state)
    try:
        # Here and not above: a look at this machine must not wait for what only a cluster needs.
        from console.cluster.declared import declared
        from console.cluster.source import ClusterSource

        return ClusterSource.opened(declared(sections, project, stack), project)
    except ModuleNotFoundError as error:
        raise StackFileError(
            f"a stack on a cluster needs the package {error.name}: make setup STACK={stack}"
        ) from None
