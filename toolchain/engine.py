"""Chooses the pulumi that this checkout uses: one on PATH, the official release, or a built one."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolchain.build import built_engine
from toolchain.download import downloaded_engine
from toolchain.places import VENV, cache
from toolchain.versions import parse_version, read_versions
from toolchain.wrapper import is_wrapper


@dataclass(frozen=True)
class Engine:
    """`folder` holds pulumi and its language host. A built one comes alone: Pulumi's plugins
    cannot be fetched for it."""

    folder: Path
    built: bool


def ensure_engine() -> Engine:
    """Afterwards there is a pulumi that is new enough."""
    programs = read_versions().programs
    present = engine_on_path(os.environ.get("PATH", ""), programs["pulumi-minimum"])
    if present:
        return Engine(present, built=False)
    downloaded = downloaded_engine(programs["pulumi"])
    if downloaded:
        return Engine(downloaded, built=False)
    return Engine(built_engine(), built=True)


def engine_on_path(path: str, minimum: str) -> Path | None:
    """The folder of the user's own pulumi, when it is the minimum at least and can run Python
    programs."""
    # What plain `pulumi` means to the user is the first one alone.
    pulumi = next(candidates(path), None)
    if pulumi is None:
        return None
    folders = [
        pulumi.resolve().parent,
        *(Path(folder) for folder in path.split(os.pathsep) if folder),
    ]
    has_host = any((folder / "pulumi-language-python").exists() for folder in folders)
    new_enough = parse_version(_version(pulumi)) >= parse_version(minimum)
    return pulumi.parent if has_host and new_enough else None


def candidates(path: str) -> Iterator[Path]:
    """The pulumi programs on PATH that are neither a checkout's wrapper nor one that this project
    got before."""
    own = cache().resolve()
    for folder in path.split(os.pathsep):
        pulumi = Path(folder) / "pulumi"
        if not folder or not os.access(pulumi, os.X_OK) or pulumi.is_dir():
            continue
        resolved = pulumi.resolve()
        if own in resolved.parents or pulumi.parent == VENV / "bin" or is_wrapper(resolved):
            continue
        yield pulumi


def _version(pulumi: Path) -> str:
    try:
        ran = subprocess.run(
            [pulumi, "version"],
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout if ran.returncode == 0 else ""
