"""Secrets of a job on a cluster reach its replicas and nothing else."""

import base64
from pathlib import Path
from urllib.parse import quote

from tests.cluster.stacks import ClusterStack, shell_job
from tests.cluster.test_console import console

TOKEN = "corn-4711/Rettich"
LINES = "BEGIN-of-a-key\nmiddle-of-a-key\nEND-of-a-key"
FORMS = [
    TOKEN,
    quote(TOKEN, safe=""),
    base64.b64encode(TOKEN.encode()).decode(),
    *LINES.splitlines(),
]
PRINTS = """
echo "token: $TOKEN"; echo "base64: $(printf %s "$TOKEN" | base64)"; echo "$LINES"
echo "url: https://x/?t=$(printf %s "$TOKEN" | sed s,/,%2F,)"
printf 'split: corn-4711\\033[1m/Rettich\\n'
"""


def test_what_a_failing_job_prints_of_its_secrets_stands_nowhere(stack: ClusterStack) -> None:
    """Not in the state, its history, the output of a command, nor in `make logs` and `watch`."""
    job = shell_job(stack.cluster, f"{PRINTS} exit 3", wait="succeeded")
    # Of a command that is not there the kubelet repeats the variables that it put in its place.
    stack.configure(jobs={"m": job, "n": {**job, "command": ["/nowhere/$(TOKEN)"]}})
    for path, value in (("m.env.TOKEN", TOKEN), ("m.env.LINES", LINES), ("n.env.TOKEN", TOKEN)):
        key = f"ack-training:jobs.{path}"
        stored = stack.workspace.pulumi("config", "set", "--secret", "--path", key, value)
        assert stored.code == 0, stored
    failed = stack.workspace.up()
    assert failed.code != 0, failed
    # With every look at it: the log is shown, and nothing of what must not be.
    assert "base64: [secret]" in failed.text, failed
    assert "url: https://x/?t=[secret]" in failed.text
    assert "split: [secret]" in failed.text
    texts = {
        "up": failed.text,
        "preview": stack.workspace.preview().text,
        "refresh": stack.workspace.refresh().text,
        "logs": console(stack, "logs", "--job", "m").text,
        "watch": console(stack, "watch", "--once").text,
        "state": stack.workspace.exported(),
    }
    assert "token: [secret]" in texts["logs"]
    backend = stack.workspace.path / ".state"
    texts |= {str(file): file.read_text() for file in files(backend)}
    assert any("history" in name for name in texts)
    shown = [(name, form) for name, text in texts.items() for form in FORMS if form in text]
    assert shown == []


def files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]
