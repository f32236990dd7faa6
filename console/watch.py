"""A live table of every job and service of a stack on this machine."""

import time
from pathlib import Path

from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

from supervisor import client
from supervisor.client import Observation
from supervisor.job_progress import JobProgress, read_progress, read_replica_progress

_REFRESH_SECONDS = 0.5
_MOVING = ("Running", "Restarting", "Succeeded")
_COLOURS = {
    "Running": "green",
    "Succeeded": "green",
    "Restarting": "yellow",
    "Created": "yellow",
    "Pending": "yellow",
    "Suspended": "yellow",
    "Failed": "red",
    "Lost": "red",
}


def follow(state: Path) -> int:
    """Shows the table and keeps it up to date until interrupted."""
    with Live(_view(state), refresh_per_second=4) as live:
        while True:
            time.sleep(_REFRESH_SECONDS)
            live.update(_view(state))


def print_once(state: Path) -> int:
    """Prints the table as it is now."""
    Console().print(_view(state))
    return 0


def _view(state: Path) -> RenderableType:
    folders = sorted(path.parent for path in state.glob("*/*/status.json"))
    if not folders:
        return Text("nothing runs: `pulumi up` starts the stack's jobs")
    return Group(*(part for folder in folders for part in _section(folder)))


def _section(folder: Path) -> list[RenderableType]:
    seen = client.observe(folder)
    if seen.status is not None and seen.status.kind == "service":
        return [_title(folder.name, seen)]
    table = Table(
        title=_title(folder.name, seen), title_justify="left", box=box.SIMPLE, padding=(0, 1)
    )
    for column in ("replica", "state", "restarts", "step", "loss", "acc.", "ex./s"):
        justify: JustifyMethod = "left" if column in ("replica", "state") else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    lost = seen.state == client.LOST
    for name, replica in ({} if seen.status is None else seen.status.replicas).items():
        progress = read_replica_progress(folder / "progress", name)
        state = client.LOST if lost else replica["state"]
        table.add_row(name, _coloured(state), str(replica["restarts"]), *_figures(progress))
    parts: list[RenderableType] = [table]
    progress = read_progress(folder / "progress")
    if progress is not None and seen.state in _MOVING:
        parts.append(_bar(progress))
    return parts


def _title(name: str, seen: Observation) -> Text:
    title = Text.assemble((name, "bold"), " ", _coloured(seen.state))
    if seen.status is not None and seen.state in ("Failed", "Restarting"):
        title.append(f"  {seen.status.message.splitlines()[0]}")
    if seen.state == client.LOST:
        title.append("  its supervisor was killed: `pulumi up` starts it again")
    return title


def _figures(progress: JobProgress | None) -> tuple[str, str, str, str]:
    # Of a role that serves others there is nothing to count.
    if progress is None or (progress.step == 0 and progress.loss is None):
        return "", "", "", ""
    return (
        f"{progress.step}/{progress.steps}",
        "" if progress.loss is None else f"{progress.loss:.4f}",
        "" if progress.accuracy is None else f"{progress.accuracy:.3f}",
        "" if progress.examples_per_second is None else f"{progress.examples_per_second:,.0f}",
    )


def _bar(progress: JobProgress) -> Progress:
    bar = Progress(BarColumn(bar_width=50), TaskProgressColumn(), TextColumn("{task.description}"))
    left = progress.seconds_left()
    text = "" if left is None else f"{left // 60}:{left % 60:02d} left"
    bar.add_task(text, total=max(progress.steps, 1), completed=progress.step)
    return bar


def _coloured(state: str) -> Text:
    return Text(state, style=_COLOURS.get(state, ""))
