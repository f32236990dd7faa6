"""A live table of every job and service of a stack."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

from console.look import JobLook, Look, ReplicaLook, ServiceLook
from console.source import Source
from console.steady import Steady
from supervisor.job_progress import JobProgress

_WIDE = 2000
_MOVING = ("Running", "Restarting", "Succeeded")
_GREEN = ("Running", "Succeeded", "Ready")
_YELLOW = ("Restarting", "Created", "Pending", "Suspended", "Terminating", "ContainerCreating")
_RED = ("Failed", "Lost", "Absent", "Error", "OOMKilled", "Evicted", "Unschedulable")
_COLOURS = {
    **dict.fromkeys(_GREEN, "green"),
    **dict.fromkeys((*_YELLOW, "PodInitializing", "not created", "not ready"), "yellow"),
    **dict.fromkeys((*_RED, "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull"), "red"),
}


def follow(source: Source) -> int:
    """Shows the table and keeps it up to date until interrupted."""
    steady = Steady(source)
    with Live(Text("looking …"), console=_console(), refresh_per_second=4) as live:
        while True:
            look, notes = steady.look()
            shown = () if look is None else (_view(look),)
            live.update(Group(*(Text(note, style="red") for note in notes), *shown))
            time.sleep(source.poll_seconds)


def print_once(source: Source) -> int:
    """Prints the table as it is now."""
    _console().print(_view(source.look()))
    return 0


def _console() -> Console:
    """A file or another program takes lines of any length; rich would cut them as of a terminal of
    80 columns."""
    terminal = sys.stdout.isatty()
    return Console() if terminal else Console(width=_WIDE)


def _view(look: Look) -> RenderableType:
    if not look.jobs and not look.services:
        return Text("nothing runs: `pulumi up` starts the stack's jobs")
    parts: list[RenderableType] = []
    for job in look.jobs:
        parts += _section(job, nodes=look.nodes)
    return Group(*parts, *map(_title, look.services))


def _section(job: JobLook, *, nodes: bool) -> list[RenderableType]:
    if not job.replicas:
        return [_title(job)]
    table = Table(box=box.SIMPLE, padding=(0, 1))
    words = ("replica", "state", "node") if nodes else ("replica", "state")
    for column in (*words, "restarts", "step", "loss", "acc.", "ex./s"):
        justify: JustifyMethod = "left" if column in words else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    for replica in job.replicas:
        table.add_row(*_row(replica, nodes=nodes))
    # Not the table's own title, which is wrapped at the table's width.
    parts: list[RenderableType] = [_title(job), table]
    # A replica that goes on from a checkpoint tells how many steps there are with its next line.
    if job.progress is not None and job.progress.steps and job.state in _MOVING:
        parts.append(_bar(job.progress))
    return parts


def _row(replica: ReplicaLook, *, nodes: bool) -> Iterator[str | Text]:
    yield replica.name
    yield _coloured(replica.state)
    if nodes:
        yield replica.node
    yield str(replica.restarts)
    yield from _figures(replica.progress)


def _title(about: JobLook | ServiceLook) -> Text:
    title = Text.assemble((about.name, "bold"), " ", _coloured(about.state))
    if about.note:
        title.append(f"  {about.note}")
    return title


def _figures(progress: JobProgress | None) -> tuple[str, str, str, str]:
    # Of a role that serves others there is nothing to count.
    if progress is None or (progress.step == 0 and progress.loss is None):
        return "", "", "", ""
    return (
        f"{progress.step}/{progress.steps}" if progress.steps else f"{progress.step}",
        "" if progress.loss is None else f"{progress.loss:.4f}",
        "" if progress.accuracy is None else f"{progress.accuracy:.3f}",
        "" if progress.examples_per_second is None else f"{progress.examples_per_second:,.0f}",
    )


def _bar(progress: JobProgress) -> Progress:
    bar = Progress(BarColumn(bar_width=50), TaskProgressColumn(), TextColumn("{task.description}"))
    left = progress.seconds_left()
    text = "" if left is None else f"{left // 60}:{left % 60:02d} left"
    bar.add_task(text, total=progress.steps, completed=progress.step)
    return bar


def _coloured(state: str) -> Text:
    return Text(state, style=_COLOURS.get(state, ""))
