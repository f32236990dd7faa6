"""Workspaces for tests of the real engine; none leaves a process behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.processes import running_under
from tests.engine.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    workspace = Workspace.create(tmp_path / "a project")
    yield workspace
    destroyed = workspace.destroy()
    left = running_under(workspace.path)
    assert destroyed.code == 0, destroyed
    assert left == []
