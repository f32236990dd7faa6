"""Which Python sets a checkout up, and what of the user's environment it does not get."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import venv, wrapper
from toolchain.places import ROOT

Program = Callable[[str, str], Path]
USABLE = 'case "$*" in *"-c"*) echo 3.12.1;; *) echo "ran $*"; env | grep ^PYTHON; true;; esac'
UNSUITABLE = "echo 3.9.2; exit 3"


def run_search(folder: Path, *tools: str, **environment: str) -> subprocess.CompletedProcess[str]:
    for tool in ("sh", "sed", "dirname", *tools):
        (folder / tool).symlink_to(f"/usr/bin/{tool}")
    return subprocess.run(
        ["/bin/sh", ROOT / "toolchain" / "run.sh", "setup"],
        env={"PATH": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 3.9.2; exit 3", ["3.11 to 3.13", "python3 is 3.9.2"]),
        ("echo 3.14.0; exit 3", ["3.11 to 3.13", "python3 is 3.14.0"]),
        ("echo 3.11.2; exit 4", ["venv", "python3.11-venv"]),
        ("exit 127", ["3.11 to 3.13"]),
    ],
)
def test_no_usable_python_is_one_line(program: Program, script: str, words: list[str]) -> None:
    ran = run_search(program("python3", script).parent)
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 1
    assert not ran.stdout
    for word in words:
        assert word in ran.stderr


def test_a_usable_python_is_found_behind_one_that_is_not(program: Program) -> None:
    program("python3", "echo 3.9.2; exit 3")
    usable = 'case "$*" in *"-c"*) echo 3.12.1;; *) echo "ran $*";; esac'
    ran = run_search(program("python3.12", usable).parent)
    assert ran.stdout == "ran -B -m toolchain setup\n"


def test_the_python_that_the_user_names_is_taken(program: Program, tmp_path: Path) -> None:
    program("python3", "echo ran the wrong one")
    named = program("my python", USABLE)
    ran = run_search(tmp_path / "bin", "env", "grep", PYTHON=str(named))
    assert ran.stdout.splitlines()[0] == "ran -B -m toolchain setup"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (None, ["is no program that runs Python", "3.11 to 3.13"]),
        ("exit 0", ["is no program that runs Python", "3.11 to 3.13"]),
        ("exit 1", ["is no program that runs Python", "3.11 to 3.13"]),
        (UNSUITABLE, ["is 3.9.2", "3.11 to 3.13"]),
        ("echo 3.11.2; exit 4", ["Python 3.11.2 lacks the venv module"]),
    ],
)
def test_no_other_python_takes_the_place_of_the_one_named(
    program: Program, tmp_path: Path, script: str | None, words: list[str]
) -> None:
    program("python3", USABLE)
    named = tmp_path / "named"
    if script is not None:
        program("named", script).rename(named)
    ran = run_search(tmp_path / "bin", "env", "grep", PYTHON=str(named))
    assert (ran.returncode, ran.stdout) == (1, "")
    (line,) = ran.stderr.splitlines()
    for word in words:
        assert word in line
    assert f"PYTHON={named}" in line or "venv" in line


def test_what_leads_a_python_astray_is_not_passed_on(program: Program, tmp_path: Path) -> None:
    program("python3", USABLE)
    astray = {
        "PYTHONSAFEPATH": "1",
        "PYTHONHOME": "/nowhere",
        "PYTHONPATH": "/elsewhere",
        "PYTHONSTARTUP": "/x.py",
        "PYTHONINSPECT": "1",
        "PYTHONPLATLIBDIR": "lib64",
    }
    kept = {"PYTHONUNBUFFERED": "1"}
    ran = run_search(tmp_path / "bin", "env", "grep", **astray, **kept)
    assert ran.stdout.splitlines() == ["ran -B -m toolchain setup", "PYTHONUNBUFFERED=1"]


def test_plain_pulumi_drops_the_same(tmp_path: Path) -> None:
    dropped = re.compile(r"^unset (.*)$", re.M)
    text = wrapper.wrapper_text(tmp_path, tmp_path, tmp_path, "")
    script = (ROOT / "toolchain" / "run.sh").read_text(encoding="utf-8")
    assert dropped.findall(text) == dropped.findall(script) != []


def wheel(folder: Path) -> None:
    folder.mkdir()
    with zipfile.ZipFile(folder / "nothing-1-py3-none-any.whl", "w") as file:
        info = "nothing-1.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1\n")
        file.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(f"{info}/RECORD", f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


def test_the_users_pip_settings_send_no_package_elsewhere(tmp_path: Path) -> None:
    wheel(tmp_path / "wheels")
    (tmp_path / "pip.conf").write_text("[install]\nuser = true\n")
    astray = {
        "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"),
        "PIP_TARGET": str(tmp_path / "target"),
        "PIP_PREFIX": str(tmp_path / "prefix"),
        "PIP_ROOT": str(tmp_path / "root"),
        "PIP_PYTHON": str(tmp_path / "python"),
        "PIP_REQUIREMENT": str(tmp_path / "more.txt"),
        "PIP_CONSTRAINT": str(tmp_path / "less.txt"),
        "PIP_USER": "1",
        "PIP_REQUIRE_VIRTUALENV": "1",
        # The user's choice, and kept.
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "PIP_NO_INDEX": "1",
    }
    environment = venv.pip_environment(os.environ | astray)
    command = [sys.executable, "-I", "-m", "pip", "install", "--dry-run", "nothing==1"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "Would install nothing-1" in ran.stdout, ran.stdout + ran.stderr
    assert not (tmp_path / "target").exists()


def test_a_dry_run_is_none_of_ours() -> None:
    assert "PIP_DRY_RUN" not in venv.pip_environment({"PIP_DRY_RUN": "1"})
