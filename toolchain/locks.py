"""`make lock`: writes the requirements files from versions.toml."""

import os
import subprocess
import sys
from collections.abc import Sequence

from toolchain.places import ROOT, cache
from toolchain.report import Stop, step
from toolchain.venv import pip_environment
from toolchain.versions import read_versions

FILES = {
    "stack": "requirements.txt",
    "local": "requirements-local.txt",
    "kubernetes": "requirements-kubernetes.txt",
    "data": "requirements-data.txt",
    "dev": "requirements-dev.txt",
    "cpu": "training/images/requirements-cpu.txt",
    "gpu": "training/images/requirements-gpu.txt",
}
"""The lock files, each by the name of what it is for: a group of versions.toml, or several."""

GROUPS = {
    "local": ("replica", "cpu"),
    "cpu": ("replica", "cpu"),
    "gpu": ("replica", "gpu"),
}
"""The groups in a file, where it is not the one of the same name."""

ALONE = {"data": ("data",), "cpu": ("data",), "gpu": ("data",)}
"""The groups in a file whose packages stand there without their dependencies. An image's file is
complete, so that all of it is installed without its dependencies."""
_HEADER = "# Made by `make lock` from versions.toml. Do not edit.\n"


def write_locks() -> None:
    """Writes all lock files. Versions are chosen for all groups at once, so that the files never
    contradict each other."""
    versions = read_versions()
    uv = _uv(versions.programs["uv"])
    with step("Locking the Python packages", "about a minute"):
        groups = {group for file in FILES for group in whole_groups(file)}
        together = [pin for group in sorted(groups) for pin in pins(versions.python[group])]
        chosen = _compile(uv, together, ["--no-annotate"])
        everything = cache() / "lock-constraints.txt"
        everything.write_text(chosen, encoding="utf-8")
        hashed = ["--generate-hashes", "--no-annotate"]
        for name, file in FILES.items():
            text = _HEADER
            for groups_of, options in (
                (whole_groups(name), ["--constraint", str(everything)]),
                (ALONE.get(name, ()), ["--no-deps"]),
            ):
                wanted = [pin for group in groups_of for pin in pins(versions.python[group])]
                if wanted:
                    text += _compile(uv, wanted, [*hashed, *options])
            (ROOT / file).write_text(text, encoding="utf-8")


def whole_groups(name: str) -> tuple[str, ...]:
    """The groups whose packages stand in a file with all their dependencies."""
    return GROUPS.get(name, () if name in ALONE else (name,))


def pins(packages: dict[str, str]) -> list[str]:
    """As pip reads them, environment markers included."""
    return [f"{name}=={version}" for name, version in packages.items()]


def _compile(uv: str, requirements: Sequence[str], options: Sequence[str]) -> str:
    lowest = read_versions().programs["python-minimum"]
    command = [uv, "pip", "compile", "-", "--universal", "--python-version", lowest]
    # Where packages come from is each machine's own setting, and no part of a lock.
    command += ["--no-header", "--no-emit-index-url", "--no-emit-find-links", "--quiet", *options]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("UV_OUTPUT")}
    ran = subprocess.run(
        command,
        input="\n".join(requirements),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Stop(f"the packages in versions.toml do not fit together:\n{ran.stderr.strip()}")
    return ran.stdout


def _uv(version: str) -> str:
    """The pinned uv, in an environment of its own: the project itself does not need it."""
    home = cache() / f"uv-{version}"
    uv = home / "bin" / "uv"
    if not uv.exists():
        with step(f"Installing uv {version} for locking", "about 20 s, once"):
            make = [sys.executable, "-I", "-m", "venv", "--clear", str(home)]
            fill = [
                str(home / "bin" / "python"),
                "-I",
                "-m",
                "pip",
                "install",
                "--quiet",
                f"uv=={version}",
            ]
            for command in (make, fill):
                ran = subprocess.run(
                    command, env=pip_environment(os.environ), stdin=subprocess.DEVNULL, check=False
                )
                if ran.returncode:
                    raise Stop(f"cannot install uv {version}, which `make lock` needs")
    return str(uv)
