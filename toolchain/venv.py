"""Makes `.venv` and installs the locked Python packages into it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.places import ROOT, VENV
from toolchain.report import Stop, step


@dataclass(frozen=True)
class Group:
    """Lock files that are installed together. `whole` ones bring all their dependencies; of the
    others only the packages themselves are wanted."""

    name: str
    whole: tuple[str, ...]
    alone: tuple[str, ...] = ()
    usually: str = "about a minute, once"

    @property
    def locks(self) -> tuple[str, ...]:
        return self.whole + self.alone


LOCAL = Group(
    "local",
    ("requirements.txt", "requirements-local.txt"),
    ("requirements-data.txt",),
    "about 2 minutes, once; 1.8 GB of disk",
)
KUBERNETES = Group(
    "kubernetes",
    ("requirements.txt", "requirements-kubernetes.txt"),
    usually="about half a minute, once; 230 MB of disk",
)
DEV = Group("dev", ("requirements-dev.txt",))

PYTHON = VENV / "bin" / "python"

_LEADING_ASTRAY = (
    *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_DRY_RUN"),
    *("PIP_REQUIREMENT", "PIP_EDITABLE", "PIP_CONSTRAINT", "PIP_REQUIRE_VIRTUALENV"),
)
"""Settings of the user's pip with which it would install elsewhere, something else, or nothing."""


def ensure_venv(groups: Sequence[Group]) -> None:
    """Afterwards `.venv` has each group's packages. Quick when it has; finishes what an
    interrupted run began."""
    minor = working_python(PYTHON)
    wanted = _wanted_python(minor)
    if minor != wanted:
        _create(wanted)
    for group in groups:
        stamp = VENV / f".installed-{group.name}"
        content = stamp_content(group.locks, wanted, ROOT)
        if not _has(stamp, content):
            _install(group)
            # Last, so that an install that was cut short has no stamp.
            stamp.write_text(content, encoding="utf-8")


def _wanted_python(present: str | None) -> str:
    """A usable `.venv` is kept whichever Python it is of, unless the user names one."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    stamped = any((VENV / f".installed-{group.name}").exists() for group in (LOCAL, KUBERNETES))
    if present and stamped and not os.environ.get("PYTHON"):
        return present
    return running


def working_python(python: Path) -> str | None:
    """`3.12`, or None when `python` is missing, broken, or cannot run pip."""
    if not python.exists():
        return None
    code = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    try:
        ran = subprocess.run(
            [python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # A copied or moved checkout has a `.venv` whose scripts start another one's Python.
    return ran.stdout.strip() if ran.returncode == 0 and _at_home(VENV) else None


def _at_home(venv: Path) -> bool:
    """Whether `venv` still lies where it was made, so that the paths in its scripts are right."""
    place = venv / ".made-in"
    return not place.exists() or place.read_text(encoding="utf-8") == str(venv)


def stamp_content(locks: Sequence[str], python: str, root: Path) -> str:
    digest = hashlib.sha256()
    for lock in locks:
        digest.update((root / lock).read_bytes())
    return json.dumps({"locks": digest.hexdigest(), "python": python})


def _has(stamp: Path, content: str) -> bool:
    try:
        return stamp.read_text(encoding="utf-8") == content
    except OSError:
        return False


def _create(minor: str) -> None:
    if VENV.exists() and not VENV.is_dir():
        raise Stop(f"{VENV} is in the way: it must be a folder; move it aside")
    if VENV.is_symlink():
        # To clear it would empty the folder that it leads to, which is not this checkout's.
        raise Stop(f"{VENV} is a link to an environment of another place: remove the link")
    instead = " in place of the one there" if VENV.exists() else ""
    with step(f"Making .venv with Python {minor}{instead}", "about 10 s"):
        # The interpreter behind a virtual environment that is active: one cannot make itself again.
        base: str = getattr(sys, "_base_executable", "") or sys.executable
        _run([base, "-I", "-m", "venv", "--clear", str(VENV)], "cannot make .venv")
        (VENV / ".made-in").write_text(str(VENV), encoding="utf-8")


def _install(group: Group) -> None:
    for site in (VENV / "lib").glob("python*/site-packages"):
        discard_half_installed(site)
    pip = [str(PYTHON), "-I", "-m", "pip", "install", "--quiet", "--no-input"]
    pip += ["--disable-pip-version-check", "--require-hashes"]
    with step(f"Installing the Python packages of {' and '.join(group.locks)}", group.usually):
        for locks, options in ((group.whole, []), (group.alone, ["--no-deps"])):
            if locks:
                files = [part for lock in locks for part in ("-r", str(ROOT / lock))]
                _run([*pip, *options, *files], "pip could not install the packages")


def discard_half_installed(site: Path) -> list[str]:
    """Makes pip forget the packages whose installation was cut short, so that it installs them
    again.

    pip takes a package for installed when it sees METADATA, but writes RECORD with a line for
    INSTALLER last.
    """
    discarded = []
    for info in sorted(site.glob("*.dist-info")):
        record = info / "RECORD"
        whole = record.exists() and f"{info.name}/INSTALLER" in record.read_text(encoding="utf-8")
        if not whole:
            shutil.rmtree(info)
            discarded.append(info.name)
    # pip renames what it replaces to names that begin with ~ and removes them at the end.
    for leftover in site.glob("~*"):
        shutil.rmtree(leftover)
    return discarded


def pip_environment(base: Mapping[str, str]) -> dict[str, str]:
    """`base` for a pip that installs here what it is told. Where packages come from stays the
    user's choice."""
    kept = {name: value for name, value in base.items() if name not in _LEADING_ASTRAY}
    # Said and not only left out: the user's pip.conf may have it.
    return kept | {"PIP_USER": "0"}


def _run(command: Sequence[str], failed: str) -> None:
    ran = subprocess.run(
        command,
        env=pip_environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        tail = "\n".join((ran.stdout + ran.stderr).strip().splitlines()[-15:])
        raise Stop(f"{failed}:\n{tail}")
