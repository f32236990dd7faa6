"""The views as they are called, against stand-ins for a machine's state and a cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from console import __main__ as console
from console.choice import TO_BE_MADE
from tests.cluster_reading.api_server import Request, api_server, kubeconfig
from tests.cluster_reading.objects import job, pod

LOG = """\
2026-11-30T16:53:01.000000001Z step 50/200  loss 1.2000  accuracy 0.500  2000 examples/s
2026-11-30T16:53:02.000000001Z step 100/200  loss 0.9557  accuracy 0.722  2565 examples/s
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(console, "PROJECT", tmp_path)
    monkeypatch.setenv("COLUMNS", "40")
    (tmp_path / "Pulumi.yaml").write_text("name: ack-training\n")
    (tmp_path / "Pulumi.dev.yaml").write_text(
        "config:\n"
        "  ack-training:target: kubernetes\n"
        "  ack-training:kubernetes: {kubeconfig: kubeconfig}\n"
        "  ack-training:storage: {hostPath: /x}\n"
        "  ack-training:jobs:\n"
        "    m: {image: i, command: [sh], worker: {}}\n"
        "    n: {image: i, command: [sh], chief: {}}\n"
    )
    return tmp_path


def answer(request: Request) -> tuple[int, Any]:
    path = request.path.partition("?")[0]
    if path.endswith("/log"):
        return 200, LOG
    if path.endswith("/deployments/tensorboard"):
        return 200, {"spec": {"selector": {}}, "status": {"readyReplicas": 1}}
    if path.endswith("/deployments/training-operator"):
        return 403, {"reason": "Forbidden", "message": "may not get deployments"}
    if path.endswith("/tfjobs/m"):
        return 200, job(conditions={"Running": "m is running."})
    kinds = {
        "tfjobs": [job(conditions={"Running": "m is running."})],
        "pods": [pod(phase="Running", container={"running": True})],
    }
    return 200, {"items": kinds.get(path.rpartition("/")[2], [])}


def run(project: Path, server: str, *arguments: str) -> int:
    (project / "kubeconfig").write_text(kubeconfig(server))
    return console.main([*arguments, "--stack", "dev"])


def test_the_table_of_a_cluster(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with api_server(answer) as server:
        assert run(project, server.url, "watch", "--once") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["m", "Running"]
    assert lines[2] == ["replica", "state", "node", "restarts", "step", "loss", "acc.", "ex./s"]
    assert lines[4] == ["worker-0", "Running", "n1", "0", "100/200", "0.9557", "0.722", "2,565"]
    assert "50%" in lines[6]
    assert lines[7:] == [
        ["n", "Absent", *TO_BE_MADE.split()],
        ["tensorboard", "Ready"],
        f"training-operator unknown cluster dev ({server.url}): may not get deployments".split(),
    ]


def test_a_look_is_one_list_of_each_kind(project: Path) -> None:
    with api_server(answer) as server:
        assert run(project, server.url, "watch", "--once") == 0
        asked = sorted(request.path.rpartition("/")[2] for request in server.requests)
    assert [path.partition("?")[0] for path in asked] == [
        *("events", "log", "pods", "tensorboard", "tfjobs", "training-operator")
    ]


def test_a_log_of_a_cluster(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with api_server(answer) as server:
        assert run(project, server.url, "logs", "--job", "m", "--no-follow") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("step 100/200  loss 0.9557")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["logs"], "JOB=: choose one of m, n"),
        (["logs", "--job", "o"], "JOB=o: choose one of m, n"),
        (["logs", "--job", "m", "--replica", "ps"], "REPLICA=ps of m: choose one of worker-0"),
        (
            ["logs", "--job", "n"],
            f"n is not in the cluster: {TO_BE_MADE}",
        ),
        (["tensorboard"], "tensorboard is not ready: it has no pod"),
    ],
)
def test_what_is_not_there_is_told(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    def no_pods(request: Request) -> tuple[int, Any]:
        return (200, {"items": []}) if "/pods" in request.path else answer(request)

    with api_server(no_pods) as server:
        assert run(project, server.url, *arguments) == 2
    assert capsys.readouterr().err == f"{told}\n"


@pytest.mark.parametrize(
    "arguments", [["watch", "--once"], ["logs", "--job", "m"], ["tensorboard"]]
)
def test_a_cluster_that_cannot_be_reached(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with api_server(answer) as server:
        url = server.url
    assert run(project, url, *arguments) == 1
    said = capsys.readouterr().err
    assert said == (
        f"cluster dev ({url}) cannot be reached: connection refused: nothing listens there\n"
    )


def test_credentials_that_have_expired(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with api_server(lambda _: (401, {"message": "Unauthorized"})) as server:
        assert run(project, server.url, "watch", "--once") == 1
    assert "does not accept the credentials of the kubeconfig (401)" in capsys.readouterr().err


def test_a_stack_that_is_wrong(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "Pulumi.dev.yaml").write_text("config: {ack-training:target: kubernets}\n")
    assert console.main(["watch", "--stack", "dev"]) == 2
    assert capsys.readouterr().err.startswith("ack-training:target: ")


@pytest.mark.parametrize("port", ["0", "65536", "x", "-1", "6006.0"])
def test_what_is_no_port(project: Path, capsys: pytest.CaptureFixture[str], port: str) -> None:
    with pytest.raises(SystemExit):
        console.main(["tensorboard", f"--port={port}"])
    assert "must be a port from 1 to 65535" in capsys.readouterr().err


def test_tensorboard_of_this_machine(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It runs without help of this view, which needs its URL alone."""
    assert console.main(["tensorboard", "--stack", "dev-local"]) == 2
    assert capsys.readouterr().err == "there is no stack dev-local here\n"
    folder = project / ".ack-training/dev-local/services/tensorboard"
    folder.mkdir(parents=True)
    assert console.main(["tensorboard", "--stack", "dev-local"]) == 2
    assert capsys.readouterr().err == "TensorBoard does not run: `pulumi up` starts it\n"


def test_nothing_runs_on_this_machine(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "Pulumi.local.yaml").write_text(json.dumps({"config": {}}))
    assert console.main(["watch", "--once"]) == 0
    assert capsys.readouterr().out == "nothing runs: `pulumi up` starts the stack's jobs\n"
