"""Jobs of real processes, to their end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from supervisor import client
from tests.supervisor.conftest import Place, exits, python, shell, wait_until

FOREVER = "exec sleep 1000"


def test_the_chief_decides_and_the_others_are_ended(place: Place) -> None:
    place.launch(shell("chief-0", "exit 0"), shell("worker-0", FOREVER), shell("ps-0", FOREVER))
    place.until_gone()
    status = place.status()
    assert (status.state, status.reason, status.generation) == ("Succeeded", "Succeeded", "g1")
    states = {name: replica["state"] for name, replica in status.replicas.items()}
    assert states == {"chief-0": "Succeeded", "worker-0": "Terminated", "ps-0": "Terminated"}
    assert client.observe(place.state).state == "Succeeded"
    assert status.completion_time is not None


@pytest.mark.parametrize(
    ("policy", "codes", "state", "restarts"),
    [
        ("Never", (137, 0), "Failed", 0),
        ("OnFailure", (1, 0), "Succeeded", 1),
        ("ExitCode", (138, 0), "Succeeded", 1),
        ("ExitCode", (2, 0), "Failed", 0),
    ],
)
def test_restart_policies(
    place: Place, policy: str, codes: tuple[int, ...], state: str, restarts: int
) -> None:
    place.launch(shell("worker-0", exits(place.folder, *codes), policy))
    place.until_gone()
    status = place.status()
    assert (status.state, status.replicas["worker-0"]["restarts"]) == (state, restarts)


def test_always_and_the_backoff_limit(place: Place) -> None:
    place.launch(shell("worker-0", exits(place.folder, 0), "Always"), backoff_limit=2)
    place.until_gone()
    status = place.status()
    assert (status.state, status.reason) == ("Failed", "BackoffLimitExceeded")
    assert "backoffLimit of 2" in status.message


def test_the_deadline(place: Place) -> None:
    place.launch(shell("chief-0", FOREVER), deadline=0.3)
    place.until_gone()
    assert (place.status().state, place.status().reason) == ("Failed", "DeadlineExceeded")


@pytest.mark.parametrize("code", [0, 1])
def test_clean_pod_policy_none_leaves_the_others_running(place: Place, code: int) -> None:
    place.launch(shell("chief-0", f"exit {code}"), shell("ps-0", FOREVER), clean="None")
    status = place.until("Failed" if code else "Succeeded")
    assert status.replicas["ps-0"]["state"] == "Running"
    assert client.observe(place.state).alive
    client.stop(place.state)
    status = place.status()
    assert status.state == ("Failed" if code else "Succeeded")
    assert status.replicas["ps-0"]["state"] == "Terminated"


def test_a_failure_names_the_replica_and_keeps_its_last_lines(place: Place) -> None:
    script = 'seq 100; echo "no such shape" >&2; exit 3'
    place.launch(shell("worker-0", FOREVER), shell("worker-1", script))
    place.until_gone()
    status = place.status()
    assert status.message == "worker-1 exited with code 3"
    assert status.first_failure is not None
    assert status.first_failure["replica"] == "worker-1"
    assert status.first_failure["exitCode"] == 3
    assert status.first_failure["lines"] == [*map(str, range(82, 101)), "no such shape"]
    assert Path(status.first_failure["log"]).read_text().endswith("no such shape\n")


def test_the_loss_of_a_peer_is_not_the_first_failure(place: Place) -> None:
    peer = f'while [ ! -e "{place.folder}/lost" ]; do sleep 0.02; done; exit 138'
    place.launch(
        shell("chief-0", peer, "ExitCode"),
        python(
            "worker-0",
            f"""
import os, signal
open({str(place.folder / "lost")!r}, "w").close()
os.kill(os.getpid(), signal.SIGKILL)
""",
        ),
    )
    place.until_gone()
    status = place.status()
    assert status.first_failure is not None
    assert (status.first_failure["replica"], status.first_failure["signal"]) == ("worker-0", 9)
    assert "killed by signal 9 (SIGKILL), often out of memory" in status.message


@pytest.mark.parametrize("binary", ["/nonexistent/python", "no-such-command-here"])
def test_a_missing_binary_fails_the_job_in_a_sentence(place: Place, binary: str) -> None:
    replica = shell("worker-1", "")
    replica.command[:] = [binary, "train.py"]
    place.launch(shell("worker-0", FOREVER), replica)
    place.until_gone()
    status = place.status()
    assert (status.state, status.reason) == ("Failed", "CannotStart")
    assert status.message == f"worker-1 cannot execute {binary}: No such file or directory"
    assert status.replicas["worker-0"]["state"] == "Terminated"


def test_a_file_that_may_not_be_executed(place: Place) -> None:
    program = place.folder / "program"
    program.write_text("#!/bin/sh\n")
    replica = shell("chief-0", "")
    replica.command[:] = [str(program)]
    place.launch(replica)
    place.until_gone()
    assert place.status().message == f"chief-0 cannot execute {program}: Permission denied"


def told(place: Place, phase: str) -> str:
    """The shell command by which chief-0 tells its phase, as the runtime does."""
    progress = place.folder / "progress"
    progress.mkdir()
    content = json.dumps({"phase": phase, "step": 0, "steps": 9, "updatedAt": 1.0})
    return f"echo '{content}' > '{progress}/new'; mv '{progress}/new' '{progress}/chief-0.json'"


def test_a_replica_that_never_begins_fails_the_job(place: Place) -> None:
    place.launch(
        shell("chief-0", f"echo waiting; {told(place, 'starting')}; {FOREVER}"),
        progress=place.folder / "progress",
        start_timeout=0.5,
    )
    place.until_gone()
    status = place.status()
    assert (status.state, status.reason) == ("Failed", "StartTimeout")
    assert status.message == "chief-0 did not begin to train within 0.5 s of its start"


@pytest.mark.parametrize("phase", ["training", ""])
def test_a_replica_that_began_or_tells_nothing_may_run_on(place: Place, phase: str) -> None:
    tell = told(place, phase) if phase else "true"
    place.launch(
        shell("chief-0", f'{tell}; while [ ! -e "{place.folder}/end" ]; do sleep 0.02; done'),
        progress=place.folder / "progress",
        start_timeout=0.0,
    )
    first = place.status()
    client.suspend(place.state)
    client.resume(place.state)
    (place.folder / "end").touch()
    place.until_gone()
    assert first.state in ("Created", "Running")
    assert place.status().state == "Succeeded"


def test_the_environment_of_a_replica(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "not for replicas")
    monkeypatch.setenv("LANG", "C.UTF-8")
    place.launch(
        python(
            "chief-0",
            """
import json, os, sys
print(json.dumps([dict(os.environ), os.getcwd(), sys.stdin.read(), os.getsid(0) == os.getpid(),
                  sys.argv]))
""",
            TF_CONFIG="{}",
        ),
        secrets={"TOKEN": "s3cr3t-value"},
    )
    place.until_gone()
    environment, folder, given, leader, _ = json.loads(client.tail(place.state, "chief-0", 1)[0])
    assert environment["TF_CONFIG"] == "{}"
    assert environment["TOKEN"] == "[secret]"
    assert environment["LANG"] == "C.UTF-8"
    assert "PATH" in environment
    assert "PULUMI_CONFIG_PASSPHRASE" not in environment
    assert (folder, given, leader) == (str(place.folder.resolve()), "", True)


def test_users_files_keep_the_callers_umask(place: Place) -> None:
    place.launch(shell("chief-0", "umask; touch made"))
    place.until_gone()
    assert (place.folder / "made").stat().st_mode & 0o777 == 0o666 & ~_umask()
    for name in ("spec.json", "status.json", "lock", "supervisor.log", "logs/chief-0.log"):
        assert (place.state / name).stat().st_mode & 0o077 == 0, name


def test_a_relaunch_appends_to_the_log(place: Place) -> None:
    for _ in range(2):
        place.launch(shell("chief-0", "echo here"))
        wait_until(lambda: not client.alive(place.state))
    lines = client.tail(place.state, "chief-0", 10)
    assert [line[:17] for line in lines] == ["here", "--- started at 20", "here"]


def test_a_restart_is_told_in_the_log(place: Place) -> None:
    place.launch(shell("chief-0", "echo up; " + exits(place.folder, 200, 0), "ExitCode"))
    place.until_gone()
    first, separator, second = client.tail(place.state, "chief-0", 10)
    assert (first, second) == ("up", "up")
    assert separator.startswith("--- started at 2")
    assert separator.endswith("Z, attempt 2 ---")


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask
