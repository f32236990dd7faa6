"""TensorBoard and the model server as resources."""

import json
import os
import signal
import socket
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
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        workspace.configure({"datasets": {}, "tensorboard": {"port": port}})
        refused = workspace.up()
    assert refused.code != 0, refused
    assert f"port {port} for tensorboard is taken" in refused.text
    assert "ack-training:tensorboard.port" in refused.text


def test_a_dead_service_that_cannot_start_does_not_keep_a_refresh_from_the_rest(
    workspace: Workspace,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    workspace.configure({"datasets": {}, "tensorboard": {"port": port}})
    first = workspace.up()
    assert first.code == 0, first
    state = workspace.state_of("services", "tensorboard")
    client.stop(state)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        refreshed = workspace.refresh()
        assert refreshed.code == 0, refreshed
        assert f"port {port} for tensorboard is taken" in refreshed.text
        refused = workspace.up()
        assert refused.code != 0, refused
    mended = workspace.up()
    assert mended.code == 0, mended
    assert client.alive(state)


def test_each_of_several_model_servers_has_a_port_of_its_own(workspace: Workspace) -> None:
    job = {"command": ["true"], "chief": {}, "suspend": True, "export": {}, "serve": {}}
    names = [f"served-{number}" for number in range(4)]
    settings = {"datasets": {}, "tensorboard": {"enabled": False}}
    workspace.configure({**settings, "jobs": dict.fromkeys(names, job)})
    result = workspace.up()
    assert result.code == 0, result
    urls = {name: workspace.outputs()["jobs"][name]["predict"] for name in names}
    assert len(set(urls.values())) == len(names)
    for name, url in urls.items():
        base = url.partition("/v1/")[0]
        with urllib.request.urlopen(f"{base}/healthz?model={name}", timeout=30) as reply:
            assert reply.status == 200
        status = client.read_status(workspace.state_of("services", f"{name}-server"))
        assert status is not None
        assert status.first_failure is None


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
