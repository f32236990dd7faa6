"""Private copies of projects, each with a stack, a backend and a passphrase of its own."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from toolchain.places import file_backend

PROJECT = Path(__file__).resolve().parent.parent
PULUMI = PROJECT / ".venv" / "bin" / "pulumi"
STACK = "local"
_LIMIT_SECONDS = 1800
#: What of the project a stack needs, beside its own file and `.venv`.
PARTS = (
    "Pulumi.yaml",
    "__main__.py",
    "targets.py",
    "config",
    "infra",
    "workloads",
    "training",
    "provider",
    "supervisor",
    "cluster",
    "console",
    "toolchain",
    "versions.toml",
)
_EMPTY = """\
name: empty
runtime:
  name: python
  options:
    virtualenv: .venv
"""


class Failed(Exception):
    """A measurement could not be made; the text says what went wrong."""


class Workspace:
    """A project at `path` whose stack `local` exists."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / ".venv").symlink_to(PROJECT / ".venv")
        backend = path / ".state"
        backend.mkdir()
        self.environment = {
            **os.environ,
            "PULUMI_BACKEND_URL": file_backend(backend),
            "PULUMI_CONFIG_PASSPHRASE": "benchmark",
        }
        self.pulumi("stack", "init", STACK)

    @property
    def state(self) -> Path:
        """What the local target keeps of the stack's jobs and services."""
        return self.path / ".ack-training" / STACK

    def configure(self, settings: Mapping[str, Any]) -> None:
        """The stack's whole config; keys are of ack-training."""
        file = self.path / f"Pulumi.{STACK}.yaml"
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        content["config"] = {f"ack-training:{key}": value for key, value in settings.items()}
        file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(PULUMI), *arguments, "--non-interactive"],
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def pulumi(self, *arguments: str) -> float:
        """The seconds it took. Raises Failed with its last lines when it fails."""
        begin = time.monotonic()
        process = self.start(*arguments)
        finish(process, " ".join(arguments))
        return time.monotonic() - begin

    def destroy(self) -> None:
        self.pulumi("destroy", "--yes", "--skip-preview")


def finish(process: subprocess.Popen[str], what: str) -> str:
    """Everything that `process` printed. Raises Failed when it fails, or takes half an hour."""
    try:
        text, _ = process.communicate(timeout=_LIMIT_SECONDS)
    except BaseException:
        interrupt(process)
        raise
    if process.returncode:
        last = "\n".join(text.strip().splitlines()[-15:])
        raise Failed(f"pulumi {what} failed:\n{last}")
    return text


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ends a pulumi as ctrl-C does, which does not reach its session: it lets go of what it waits
    for, records what there is and unlocks the stack. Killed when it takes two minutes."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@contextlib.contextmanager
def project_copy(directory: Path) -> Iterator[Workspace]:
    """This project with README's stack, nothing of it created; destroyed on the way out."""
    path = directory / "project"
    path.mkdir()
    for part in PARTS:
        if (PROJECT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PROJECT / part, path / part, ignore=ignored)
        else:
            shutil.copy2(PROJECT / part, path / part)
    workspace = Workspace(path)
    workspace.configure(readme_stack())
    try:
        yield workspace
    finally:
        workspace.destroy()


def empty_program(directory: Path) -> Workspace:
    """A Pulumi program in Python that declares nothing."""
    path = directory / "empty"
    path.mkdir()
    (path / "Pulumi.yaml").write_text(_EMPTY, encoding="utf-8")
    (path / "__main__.py").touch()
    return Workspace(path)


def readme_stack() -> dict[str, Any]:
    """The config of Pulumi.local.yaml, without the namespace."""
    text = (PROJECT / f"Pulumi.{STACK}.yaml").read_text(encoding="utf-8")
    config: dict[str, Any] = yaml.safe_load(text)["config"]
    return {key.removeprefix("ack-training:"): value for key, value in config.items()}


def with_arguments(stack: Mapping[str, Any], *arguments: str) -> dict[str, Any]:
    """`stack` with other arguments for each of its jobs."""
    jobs = {name: {**job, "args": list(arguments)} for name, job in stack["jobs"].items()}
    return {**stack, "jobs": jobs}
