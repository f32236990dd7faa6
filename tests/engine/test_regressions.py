"""What once went wrong on this machine: each test is a case that was found by trying."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from tests.engine.workspace import Workspace

BARE: dict[str, Any] = {"tensorboard": {"enabled": False}, "datasets": {}}

# Notes when it begins and when it has ended, which takes `slow` seconds more after SIGTERM.
WRITER = """
trap 'sleep {slow}; echo end {name} >> "$ACK_TRAINING_JOB_DIR/writers"; exit 143' TERM
echo begin {name} >> "$ACK_TRAINING_JOB_DIR/writers"
while :; do sleep 0.1; done
"""


def writer(name: str, directory: str, slow: int = 0) -> dict[str, Any]:
    return {
        "command": ["sh", "-c", WRITER.format(name=name, slow=slow)],
        "chief": {},
        "wait": "running",
        "directory": directory,
    }


def make_a_second_stack(workspace: Workspace) -> None:
    """The stack `other`, with the config of the first."""
    other = workspace.pulumi("stack", "init", "other", "--no-select")
    assert other.code == 0, other
    configured = (workspace.path / "Pulumi.test.yaml").read_text()
    (workspace.path / "Pulumi.other.yaml").write_text(configured)


def test_jobs_that_swap_directories_never_write_to_one_together(workspace: Workspace) -> None:
    workspace.configure(
        {**BARE, "jobs": {"a": writer("a", "one", slow=5), "b": writer("b", "two")}}
    )
    first = workspace.up()
    assert first.code == 0, first
    workspace.configure(
        {**BARE, "jobs": {"a": writer("a", "two", slow=5), "b": writer("b", "one")}}
    )
    preview = workspace.preview()
    assert "starts from what data/two holds" in preview.text
    assert "resumes from its last checkpoint" not in preview.text
    swapped = workspace.up()
    assert swapped.code == 0, swapped
    assert _writers(workspace.path / "data/one") == ["begin a", "end a", "begin b"]
    assert _writers(workspace.path / "data/two") == ["begin b", "end b", "begin a"]


def test_a_second_stack_may_not_write_to_a_directory_that_is_in_use(workspace: Workspace) -> None:
    settings = {**BARE, "jobs": {"same": writer("first", "same")}}
    workspace.configure(settings)
    first = workspace.up()
    assert first.code == 0, first
    make_a_second_stack(workspace)
    refused = workspace.up("--stack", "other")
    assert refused.code != 0
    assert "data/same is in use by job same of stack test: destroy that one" in refused.text
    assert _writers(workspace.path / "data/same") == ["begin first"]
    stopped = workspace.destroy()
    assert stopped.code == 0, stopped
    free = workspace.up("--stack", "other")
    assert free.code == 0, free
    gone = workspace.pulumi("destroy", "--yes", "--skip-preview", "--stack", "other")
    assert gone.code == 0, gone


def test_a_directory_of_a_finished_job_of_another_stack_is_refused_at_preview(
    workspace: Workspace,
) -> None:
    ends = {"command": ["sh", "-c", 'echo run >> "$ACK_TRAINING_JOB_DIR/runs"'], "chief": {}}
    workspace.configure({**BARE, "jobs": {"same": ends}})
    first = workspace.up()
    assert first.code == 0, first
    make_a_second_stack(workspace)
    for refused in (
        workspace.preview("--stack", "other"),
        workspace.up("--stack", "other"),
    ):
        assert refused.code != 0
        assert "data/same is in use by job same of stack test: destroy that one" in refused.text
    assert (workspace.path / "data/same/runs").read_text() == "run\n"
    unchanged = workspace.up("--expect-no-changes")
    assert unchanged.code == 0, unchanged


def test_an_interrupted_program_says_nothing_of_its_own(workspace: Workspace) -> None:
    """As the engine does after ctrl-C, and after a failed resource: always together with others, so
    that here the program alone is interrupted to have it certainly still wait."""
    workspace.configure({**BARE, "jobs": {"long": {"command": ["sleep", "5"], "chief": {}}}})
    process = workspace.start("up", "--yes", "--skip-preview")
    status = workspace.state_of("jobs", "long") / "status.json"
    while not status.exists():
        assert process.poll() is None
        time.sleep(0.1)
    (program,) = _programs(workspace.path)
    os.kill(program, signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert "Traceback" not in text
    assert "KeyboardInterrupt" not in text
    resumed = workspace.up()
    assert resumed.code == 0, resumed


def _programs(project: Path) -> list[int]:
    """The processes that run the Pulumi program of `project`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if any(word.endswith(b"language-python-exec") for word in words):
                found += [int(entry.name)] if (entry / "cwd").resolve() == project else []
        except (OSError, ValueError):
            continue
    return found


def _writers(directory: Path) -> list[str]:
    return (directory / "writers").read_text().splitlines()
