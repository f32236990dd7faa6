"""A copy of the project with a stack of its own, driven by the real `pulumi` command."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from benchmarks.workspace import PARTS, PROJECT
from toolchain.places import file_backend

__all__ = ["PROJECT", "Result", "Workspace"]

_LIMIT_SECONDS = 600


@dataclass(frozen=True)
class Result:
    code: int
    text: str

    def __str__(self) -> str:
        return f"exit code {self.code}\n{self.text}"


@dataclass
class Workspace:
    """A project in `path` whose stack is `test`."""

    path: Path
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, path: Path) -> "Workspace":
        path.mkdir(parents=True)
        for part in PARTS:
            source = PROJECT / part
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
                shutil.copytree(source, path / part, ignore=ignored)
            else:
                shutil.copy2(source, path / part)
        (path / ".venv").symlink_to(PROJECT / ".venv")
        backend = path / ".state"
        backend.mkdir()
        workspace = cls(
            path,
            {
                **os.environ,
                "PULUMI_BACKEND_URL": file_backend(backend),
                "PULUMI_CONFIG_PASSPHRASE": "test",
                "PULUMI_SKIP_UPDATE_CHECK": "1",
            },
        )
        workspace.configure({})
        created = workspace.pulumi("stack", "init", "test")
        assert created.code == 0, created
        return workspace

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Writes the stack's config; keys without a namespace are of ack-training."""
        path = self.path / "Pulumi.test.yaml"
        known = yaml.safe_load(path.read_text()) if path.exists() else {}
        config = {f"ack-training:{key}": value for key, value in settings.items()}
        path.write_text(yaml.safe_dump({**known, "config": config}, sort_keys=False))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A pulumi command of its own session, for tests that interrupt it."""
        return subprocess.Popen(
            [str(PROJECT / ".venv/bin/pulumi"), *arguments, "--non-interactive"],
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def pulumi(self, *arguments: str) -> Result:
        process = self.start(*arguments)
        try:
            text, _ = process.communicate(timeout=_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Result(process.returncode, text)

    def up(self, *arguments: str) -> Result:
        return self.pulumi("up", "--yes", "--skip-preview", *arguments)

    def preview(self, *arguments: str) -> Result:
        return self.pulumi("preview", "--diff", *arguments)

    def refresh(self, *arguments: str) -> Result:
        return self.pulumi("refresh", "--yes", "--skip-preview", *arguments)

    def destroy(self) -> Result:
        return self.pulumi("destroy", "--yes", "--skip-preview")

    def outputs(self) -> dict[str, Any]:
        result = self.pulumi("stack", "output", "--json")
        assert result.code == 0, result
        return dict(json.loads(result.text))

    def exported(self) -> str:
        """The whole state, as text."""
        result = self.pulumi("stack", "export")
        assert result.code == 0, result
        return result.text

    def state_of(self, kind: str, name: str) -> Path:
        """The state directory of a job (`jobs`) or service (`services`)."""
        return self.path / ".ack-training" / "test" / kind / name
