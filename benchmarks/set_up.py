"""`make up` in a fresh clone: by step from nothing, and again when nothing changed."""

import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import yaml

from benchmarks.report import Table
from benchmarks.workspace import PROJECT, Failed

GOAL_SECONDS = 5
_CACHES = ("XDG_", "PULUMI_", "GOPATH", "GOCACHE", "GOMODCACHE", "PIP_CACHE_DIR")
_BEGUN = re.compile(r"^(?P<doing>\S.*) \([^()]*\)…$")
_DONE = re.compile(r"^  done in (?P<took>.+)$")


def measure_again(directory: Path, rounds: int) -> Table:
    """The second and further `make up`, of a clone set up with this user's caches."""
    clone = _clone(directory)
    # What the clone's job trains is no matter for the next `make up`, only that it is done.
    file = clone / "Pulumi.local.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    for job in content["config"]["ack-training:jobs"].values():
        job["args"] = ["--steps=20"]
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(_private_config(directory))}
    try:
        _make("up", clone, environment)
        taken = [_make("up", clone, environment)[0] for _ in range(rounds)]
    finally:
        _make("destroy", clone, environment)
    cell = f"{median(taken):.1f} ({min(taken):.1f}–{max(taken):.1f})"
    return Table(
        ("`make up`, nothing changed", "s", "goal"),
        (("README's stack, set up and trained", cell, f"< {GOAL_SECONDS}"),),
        (f"The median of {rounds} runs; in brackets the least and the greatest.",),
    )


def measure_from_nothing(directory: Path) -> Table:
    """The first `make up` of a clone, with no cache of a package, a module or a program."""
    clone = _clone(directory)
    home = directory / "home"
    home.mkdir()
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_CACHES)}
    environment = {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(_private_config(directory)),
    }
    try:
        total, output = _make("up", clone, environment)
    finally:
        _make("destroy", clone, environment)
    rows = [*steps(output), ("in all, the first training included", f"{total:.0f} s")]
    return Table(("`make up` from nothing", "took"), tuple(rows))


def steps(output: str) -> list[tuple[str, str]]:
    """What the installer did, and how long each step took, by its own words."""
    found = []
    doing = None
    for line in output.splitlines():
        if begun := _BEGUN.match(line):
            doing = begun["doing"]
        elif (done := _DONE.match(line)) and doing is not None:
            found.append((doing, done["took"]))
            doing = None
    return found


def _private_config(directory: Path) -> Path:
    """The user's settings, of where packages come from for one, without this project's own."""
    theirs = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    private = directory / "config"
    private.mkdir()
    for entry in theirs.iterdir() if theirs.is_dir() else ():
        if entry.name != "ack-training":
            (private / entry.name).symlink_to(entry)
    return private


def _clone(directory: Path) -> Path:
    clone = directory / "clone"
    command = ["git", "clone", "--quiet", "--no-hardlinks", str(PROJECT), str(clone)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise Failed(f"cannot clone the project: {ran.stderr.strip()}")
    return clone


def _make(target: str, clone: Path, environment: Mapping[str, str]) -> tuple[float, str]:
    # The checkout that measures must not be what the clone finds on PATH.
    own = str(PROJECT / ".venv" / "bin")
    folders = environment["PATH"].split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if folder != own)
    left_out = ("VIRTUAL_ENV", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "STACK", "YES", "PYTHON")
    kept = {key: value for key, value in environment.items() if key not in left_out}
    begin = time.monotonic()
    ran = subprocess.run(
        ["make", "--no-print-directory", target],
        cwd=clone,
        env={**kept, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode:
        last = "\n".join(ran.stdout.strip().splitlines()[-15:])
        raise Failed(f"make {target} failed:\n{last}")
    return time.monotonic() - begin, ran.stdout
