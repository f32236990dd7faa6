"""A process that makes itself new."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.training.programs.replica_processes import PROGRAMS

PROGRAM = """
import json, os, socket, sys
from runtime.progress import Progress
from runtime.cluster import Replica
from runtime.renewal import is_renewed, renew
from pathlib import Path

first = not is_renewed(os.environ)
progress = Path("progress")
Progress(progress, Replica("worker", 0), 10).update()
told = json.loads((progress / "worker-0.json").read_text())
open_files = sorted(int(name) for name in os.listdir("/dev/fd"))
print(json.dumps([os.getpid(), sys.argv[1:], os.environ["TF_CONFIG"], told["phase"], open_files]))
if first:
    kept = socket.create_server(("127.0.0.1", 0))
    kept.set_inheritable(True)
    os.environ["ACK_TRAINING_OPERATOR_TF_CONFIG"] = os.environ["TF_CONFIG"]
    os.environ["TF_CONFIG"] = "what TensorFlow accepts"
    renew()
"""


def test_it_is_the_same_command_in_the_same_process_with_the_environment_it_was_given(
    tmp_path: Path,
) -> None:
    (tmp_path / "renews.py").write_text(PROGRAM)
    given = {**os.environ, "PYTHONPATH": str(PROGRAMS), "TF_CONFIG": "the operator's"}
    ended = subprocess.run(
        [sys.executable, "-X", "utf8", "renews.py", "--steps=10", "a b"],
        cwd=tmp_path,
        env=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    first, second = (json.loads(line) for line in ended.stdout.splitlines())
    assert first[3] == "starting"
    # It was part of the job before: nobody shall count a start against it.
    assert second[3] == "training"
    for told in (first, second):
        assert told[1:3] == [["--steps=10", "a b"], "the operator's"]
    assert first[0] == second[0]
    assert first[4] == second[4]
