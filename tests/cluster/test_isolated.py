"""What runs isolated ends with whoever started it, and its mounts with it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.isolated import isolated, run_isolated

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("image_tools")]

STARTER = "import subprocess, sys; subprocess.run(sys.argv[1:])"


def mounts() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line.split(" ", 5)[4] for line in lines]


def test_a_killed_starter_leaves_neither_mount_nor_process(tmp_path: Path) -> None:
    folder, before = tmp_path / "mounted", mounts()
    folder.mkdir()
    script = f"mount -t tmpfs tmpfs {folder} && touch {folder}/x && echo mounted && cat"
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, *isolated(["sh", "-c", script])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert starter.stdin and starter.stdout
    with starter.stdin, starter.stdout:
        assert starter.stdout.readline() == b"mounted\n"
        assert (list(folder.iterdir()), mounts()) == ([], before)
        starter.send_signal(signal.SIGKILL)
        starter.wait()
        # It ends when the last process that could write to it is gone.
        assert starter.stdout.read() == b""
    assert mounts() == before


def test_what_a_failed_program_said_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)^sh -c .* failed:\nbefore\nmounts: private$"):
        run_isolated(
            ["sh", "-c", 'echo before; echo "mounts: $WORD"; exit 3'],
            {"WORD": "private"},
            tmp_path / "log",
        )
