"""TensorBoard and the model server as resources."""

import json
import os
import signal
import urllib.request
from typing import Any

import pytest

from supervisor import client
from tests.engine.test_faults import supervisor_of, until
from tests.engine.workspace import Workspace

pytestmark = pytest.mark.tensorflow


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as reply:
        return json.load(reply)


def test_tensorboard_answers_under_its_prefix_and_comes_back(workspace: Workspace) -> None:
    workspace.configure({"datasets": {}, "tensorboard": {"pathPrefix": "tb/"}})
    first = workspace.up()
    assert first.code == 0, first
    url = workspace.outputs()["tensorboard"]
    assert url.endswith("/tb/")
    assert get(f"{url}data/runs") == []
    state = workspace.state_of("services", "tensorboard")
    for mend in (workspace.up, workspace.refresh):
        os.kill(supervisor_of(state), signal.SIGKILL)
        until(lambda: not client.alive(state))
        mended = mend()
        assert mended.code == 0, mended
        assert workspace.outputs()["tensorboard"] == url
        assert get(f"{url}data/runs") == []
    again = workspace.up("--expect-no-changes")
    assert again.code == 0, again


def test_a_fixed_port_that_is_taken_is_named_with_its_key(workspace: Workspace) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        workspace.configure({"datasets": {}, "tensorboard": {"port": port}})
        refused = workspace.up()
    assert refused.code != 0, refused
    assert f"port {port} for tensorboard is taken" in refused.text
    assert "ack-training:tensorboard.port" in refused.text


def test_a_model_server_waits_for_the_first_export(workspace: Workspace) -> None:
    job = {
        "command": ["true"],
        "chief": {},
        "suspend": True,
        "export": {},
        "serve": {},
    }
    settings = {"datasets": {}, "tensorboard": {"enabled": False}, "jobs": {"later": job}}
    workspace.configure(settings)
    result = workspace.up()
    assert result.code == 0, result
    predict = workspace.outputs()["jobs"]["later"]["predict"]
    assert predict.endswith("/v1/models/later:predict")
