"""What is read while measuring: the installer's words, the kernel's, and ended processes."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from benchmarks.memory import Memory, Usage, memory_of, parse_rollup
from benchmarks.processes import bare
from benchmarks.set_up import steps
from benchmarks.workspace import readme_stack, with_arguments
from toolchain.report import say, step


def test_steps_are_read_from_what_the_installer_says(capsys: pytest.CaptureFixture[str]) -> None:
    with step("Making .venv with Python 3.12", "about 10 s"):
        say("  something on the way (of no matter)…")
    with step("Building pulumi", "about 8 min, once"):
        pass
    said = capsys.readouterr().out
    found = steps(f"{said}Previewing update (local)\n  done in passing")
    assert [doing for doing, _ in found] == ["Making .venv with Python 3.12", "Building pulumi"]
    assert all(took.endswith(" s") for _, took in found)


def test_memory_is_in_bytes_and_none_of_a_process_that_ended() -> None:
    rollup = "00400000-7fff [rollup]\nRss:   2048 kB\nPss:   1024 kB\nPss_Anon:  1 kB\n"
    assert parse_rollup(rollup) == Memory(rss=2 * 1024**2, pss=1024**2)
    assert parse_rollup("") is None


def test_shared_memory_is_told_of_the_moment_when_all_had_most() -> None:
    usage = Usage()
    usage.see({"chief-0": Memory(rss=90, pss=80)})
    usage.see({"chief-0": Memory(70, 40), "worker-0": Memory(60, 30), "worker-1": Memory(65, 35)})
    usage.see({"worker-1": Memory(66, 60)})
    assert usage.total == 40 + 30 + 35
    assert usage.by_role() == {"chief": Memory(90, 40), "worker": Memory(66, 35)}


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux only")
def test_the_memory_of_this_process_is_told() -> None:
    memory = memory_of(os.getpid())
    assert memory is not None
    assert 0 < memory.pss <= memory.rss


def test_bare_processes_get_their_environment_and_none_is_left(tmp_path: Path) -> None:
    code = "import os, time; print(os.getpid(), os.environ['WORD'], flush=True); time.sleep(600)"
    spec = {
        "name": "job",
        "working_directory": str(tmp_path),
        "replicas": [
            {
                "role": "worker",
                "index": index,
                "command": [sys.executable, "-c", code],
                "environment": {"WORD": f"word-{index}"},
            }
            for index in range(2)
        ],
    }
    logs = [tmp_path / f"job-worker-{index}.log" for index in range(2)]
    with bare([spec], tmp_path):
        while not all(log.exists() and log.read_text().endswith("\n") for log in logs):
            time.sleep(0.02)
    for index, log in enumerate(logs):
        pid, word = log.read_text().split()
        assert word == f"word-{index}"
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), signal.SIGCONT)


def test_other_arguments_change_nothing_else_of_the_stack() -> None:
    stack = readme_stack()
    changed = with_arguments(stack, "--steps=1")
    assert all(job["args"] == ["--steps=1"] for job in changed["jobs"].values())
    restored = {
        name: {**job, "args": stack["jobs"][name]["args"]} for name, job in changed["jobs"].items()
    }
    assert {**changed, "jobs": restored} == stack
