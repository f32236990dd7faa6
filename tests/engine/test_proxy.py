"""A proxy of the environment is for what lies beyond this machine."""

from pathlib import Path

import pytest

from tests.engine.workspace import Workspace

NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize("name", ["https_proxy", "HTTPS_PROXY", "all_proxy", "grpc_proxy"])
def test_a_proxy_is_not_between_pulumi_and_the_program(tmp_path: Path, name: str) -> None:
    workspace = Workspace.create(tmp_path / "project")
    for known in ("no_proxy", "NO_PROXY", "no_grpc_proxy"):
        workspace.environment.pop(known, None)
    workspace.environment[name] = NOBODY
    shown = workspace.preview()
    assert shown.code == 0, shown
    assert "Traceback" not in shown.text
