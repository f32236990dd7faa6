"""Secrets of a job reach its replicas and nothing else."""

import os
import signal
from pathlib import Path

import pytest

from tests.engine.test_faults import COUNTS, starts, until
from tests.engine.test_life import shell, stack
from tests.engine.workspace import Workspace

SECRET = "corn-4711-Rettich"


@pytest.mark.parametrize("outcome", ["exit 0", "exit 5"])
def test_a_secret_is_nowhere_in_plain_text(workspace: Workspace, outcome: str) -> None:
    keep = 'printf %s "$TOKEN" > "$ACK_TRAINING_JOB_DIR/token"; echo "token: $TOKEN"; '
    workspace.configure(stack(spy=shell(keep + outcome)))
    path = "ack-training:jobs.spy.env.TOKEN"
    stored = workspace.pulumi("config", "set", "--secret", "--path", path, SECRET)
    assert stored.code == 0, stored
    texts = [workspace.preview().text, workspace.up().text, workspace.up().text]
    assert (workspace.path / "data/spy/token").read_text() == SECRET
    (workspace.path / "data/spy/token").unlink()
    texts.append(workspace.exported())
    assert not [text for text in texts if SECRET in text]
    assert _files_with(SECRET, workspace.path) == []


def test_a_secret_marked_in_the_config_is_hidden_too(workspace: Workspace) -> None:
    env = {"TOKEN": {"value": SECRET, "secret": True}}
    workspace.configure(stack(spy=shell('echo "token: $TOKEN"', env=env)))
    texts = [workspace.preview().text, workspace.up().text, workspace.exported()]
    assert not [text for text in texts if SECRET in text]


def test_a_changed_secret_replaces_without_showing_either(workspace: Workspace) -> None:
    path = "ack-training:jobs.spy.env.TOKEN"
    workspace.configure(stack(spy=shell("exit 0")))
    for value in (SECRET, "another-word-12"):
        assert workspace.pulumi("config", "set", "--secret", "--path", path, value).code == 0
        preview, up = workspace.preview(), workspace.up()
        assert up.code == 0, up
        assert "secretEnvironment" in preview.text
        assert value not in preview.text + up.text


def test_a_secret_changed_after_a_killed_up_is_what_the_replicas_get(workspace: Workspace) -> None:
    path = "ack-training:jobs.spy.env.TOKEN"
    keep = 'printf %s "$TOKEN" > "$ACK_TRAINING_JOB_DIR/token"; '
    workspace.configure(stack(spy=shell(keep + COUNTS)))
    assert workspace.pulumi("config", "set", "--secret", "--path", path, SECRET).code == 0
    up = workspace.start("up", "--yes", "--skip-preview")
    until(lambda: starts(workspace, "spy") == 1)
    os.killpg(up.pid, signal.SIGKILL)
    up.communicate(timeout=60)
    assert workspace.pulumi("cancel", "--yes").code == 0
    assert workspace.pulumi("config", "set", "--secret", "--path", path, "mended-word-5").code == 0
    (workspace.path / "data/spy/go").touch()
    mended = workspace.up()
    assert mended.code == 0, mended
    assert (workspace.path / "data/spy/token").read_text() == "mended-word-5"


def _files_with(word: str, root: Path) -> list[Path]:
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if word.encode() in path.read_bytes()]
