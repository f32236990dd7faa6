"""The life of a stack on this machine: create, leave alone, change, fail, mend, destroy."""

import json
from typing import Any

from tests.engine.processes import running_under
from tests.engine.workspace import Workspace

BARE: dict[str, Any] = {"tensorboard": {"enabled": False}, "datasets": {}}


def shell(script: str, **settings: Any) -> dict[str, Any]:
    """A job of one chief that runs `script`."""
    return {"command": ["sh", "-c", script], "chief": {}, **settings}


def stack(**jobs: dict[str, Any]) -> dict[str, Any]:
    return {**BARE, "jobs": {name.replace("_", "-"): job for name, job in jobs.items()}}


def test_a_job_runs_to_its_end_once(workspace: Workspace) -> None:
    workspace.configure(stack(once=shell('echo run >> "$ACK_TRAINING_JOB_DIR/runs"')))
    first = workspace.up()
    assert first.code == 0, first
    assert workspace.outputs()["jobs"]["once"]["state"] == "Succeeded"
    for again in (workspace.up("--expect-no-changes"), workspace.refresh("--expect-no-changes")):
        assert again.code == 0, again
    assert (workspace.path / "data/once/runs").read_text() == "run\n"


def test_every_replica_gets_its_tf_config(workspace: Workspace) -> None:
    script = 'echo "$TF_CONFIG" > "$ACK_TRAINING_JOB_DIR/$(date +%N)-$$"'
    job = {
        "command": ["sh", "-c", script],
        "strategy": "parameterServer",
        "chief": {},
        "worker": {"replicas": 2},
        "ps": {"replicas": 2},
        "evaluator": {},
        "cleanPodPolicy": "None",
    }
    workspace.configure(stack(six=job))
    result = workspace.up()
    assert result.code == 0, result
    tasks, clusters = set(), set()
    for path in (workspace.path / "data/six").glob("[0-9]*-*"):
        if path.is_file():
            config = json.loads(path.read_text())
            tasks.add((config["task"]["type"], config["task"]["index"]))
            clusters.add(json.dumps(config["cluster"]))
    assert tasks == {
        ("chief", 0),
        ("worker", 0),
        ("worker", 1),
        ("ps", 0),
        ("ps", 1),
        ("evaluator", 0),
    }
    (cluster,) = clusters
    addresses = [address for role in json.loads(cluster).values() for address in role]
    assert len(set(addresses)) == 6
    assert all(address.startswith("127.0.0.1:") for address in addresses)


def test_a_resize_replaces_and_says_what_that_means(workspace: Workspace) -> None:
    job = {"command": ["sh", "-c", "sleep 0.1"], "chief": {}, "worker": {"replicas": 2}}
    workspace.configure(stack(sized=job))
    first = workspace.up()
    assert first.code == 0, first
    workspace.configure(stack(sized={**job, "worker": {"replicas": 3}}))
    preview = workspace.preview()
    assert preview.code == 0, preview
    assert "worker 2 → 3: stopped and started again" in preview.text
    assert "delete-replaced" in preview.text or "+-acktraining:local:Job" in preview.text
    second = workspace.up()
    assert second.code == 0, second


def test_a_failed_job_fails_every_up_until_it_is_mended(workspace: Workspace) -> None:
    workspace.configure(stack(broken=shell("echo the disk is full >&2; exit 3")))
    for attempt in (workspace.up(), workspace.up()):
        assert attempt.code != 0, attempt
        assert "chief-0" in attempt.text
        assert "exit code 3" in attempt.text
        assert "the disk is full" in attempt.text
        assert "Traceback" not in attempt.text
    workspace.configure(stack(broken=shell("exit 0")))
    mended = workspace.up()
    assert mended.code == 0, mended
    assert workspace.outputs()["jobs"]["broken"]["state"] == "Succeeded"


def test_waiting_less_returns_sooner(workspace: Workspace) -> None:
    jobs = {
        "submitted": shell("sleep 600", wait="submitted"),
        "running": shell("sleep 600", wait="running"),
    }
    workspace.configure(stack(**jobs))
    result = workspace.up()
    assert result.code == 0, result
    assert workspace.outputs()["jobs"]["running"]["state"] == "Running"
    again = workspace.up("--expect-no-changes")
    assert again.code == 0, again


def test_a_wait_that_takes_too_long_says_so_and_waits_again(workspace: Workspace) -> None:
    gate = 'while ! [ -e "$ACK_TRAINING_JOB_DIR/go" ]; do sleep 0.1; done'
    workspace.configure(stack(slow=shell(gate, waitTimeout="2s")))
    late = workspace.up()
    assert late.code != 0, late
    assert "waited 2 s for it to succeed, and it is still Running" in late.text
    (workspace.path / "data/slow/go").touch()
    on_time = workspace.up()
    assert on_time.code == 0, on_time
    assert workspace.outputs()["jobs"]["slow"]["state"] == "Succeeded"


def test_suspend_stops_in_place_and_resume_goes_on(workspace: Workspace) -> None:
    job = shell("sleep 600", wait="running")
    workspace.configure(stack(held=job))
    first = workspace.up()
    assert first.code == 0, first
    workspace.configure(stack(held={**job, "suspend": True}))
    preview = workspace.preview()
    assert "suspend" in preview.text
    assert "replace" not in preview.text.lower()
    suspended = workspace.up()
    assert suspended.code == 0, suspended
    assert workspace.outputs()["jobs"]["held"]["state"] == "Suspended"
    assert not any("sleep 600" in line for line in _commands(workspace))
    workspace.configure(stack(held=job))
    resumed = workspace.up()
    assert resumed.code == 0, resumed
    assert any("sleep 600" in line for line in _commands(workspace))


def test_a_removed_job_is_stopped_and_its_directory_kept(workspace: Workspace) -> None:
    workspace.configure(stack(gone=shell("sleep 600", wait="running"), kept=shell("exit 0")))
    first = workspace.up()
    assert first.code == 0, first
    (workspace.path / "data/gone/model").write_text("weights")
    workspace.configure(stack(kept=shell("exit 0")))
    second = workspace.up()
    assert second.code == 0, second
    assert running_under(workspace.path) == []
    assert (workspace.path / "data/gone/model").read_text() == "weights"


def test_destroy_stops_everything_and_keeps_data(workspace: Workspace) -> None:
    workspace.configure(stack(last=shell("sleep 600", wait="running")))
    first = workspace.up()
    assert first.code == 0, first
    (workspace.path / "data/last/model").write_text("weights")
    destroyed = workspace.destroy()
    assert destroyed.code == 0, destroyed
    assert running_under(workspace.path) == []
    assert (workspace.path / "data/last/model").read_text() == "weights"


def _commands(workspace: Workspace) -> list[str]:
    from pathlib import Path

    lines = []
    for process in running_under(workspace.path):
        try:
            raw = (Path("/proc") / str(process) / "cmdline").read_bytes()
        except OSError:
            continue
        lines.append(raw.replace(b"\0", b" ").decode(errors="replace"))
    return lines


def test_a_renamed_stack_does_not_run_a_finished_job_again(workspace: Workspace) -> None:
    workspace.configure(stack(once=shell('echo run >> "$ACK_TRAINING_JOB_DIR/runs"')))
    first = workspace.up()
    assert first.code == 0, first
    renamed = workspace.pulumi("stack", "rename", "other")
    assert renamed.code == 0, renamed
    second = workspace.up()
    assert second.code == 0, second
    again = workspace.up("--expect-no-changes")
    assert again.code == 0, again
    assert (workspace.path / "data/once/runs").read_text() == "run\n"
    gone = workspace.destroy()
    assert gone.code == 0, gone
    back = workspace.pulumi("stack", "rename", "test")
    assert back.code == 0, back
