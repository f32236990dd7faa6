"""What a stack config names on this machine: programs, the shared folder, a kubeconfig."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

from config.errors import Fault, Path, nearest
from config.kubeconfig import KubeconfigError, find_cluster
from config.program import broken_sources, program_contents
from config.stack import Stack

MOST_CODE_BYTES = 1_000_000
"""A ConfigMap may have 1 MiB, its keys included.
https://kubernetes.io/docs/concepts/configuration/configmap/"""


def disk_faults(stack: Stack, project: FilePath) -> list[Fault]:
    """Programs that are not there or that Python cannot read, and a shared folder that can be none.
    Nothing is created or run to find out."""
    faults = _folder_faults(stack.storage.path, project) if stack.target == "local" else []
    if stack.target == "kubernetes":
        faults += _cluster_faults(stack, project)
    for name, job in stack.jobs.items():
        if job.program is not None:
            path: Path = ("jobs", name, "program")
            found = _program_faults(path, job.program, project)
            if not found and stack.target != "local":
                found = _size_faults(path, job.program, project)
            faults += found
    return faults


def _cluster_faults(stack: Stack, project: FilePath) -> list[Fault]:
    settings = stack.kubernetes
    if settings.kubeconfig is None and settings.context is None:
        return []
    try:
        find_cluster(settings, project, os.environ)
    except KubeconfigError as error:
        return [error.fault]
    return []


def _program_faults(path: Path, program: str, project: FilePath) -> list[Fault]:
    file = project / program
    try:
        resolved, is_file = file.resolve(), file.is_file()
    except (OSError, RuntimeError):
        is_file = False
    if not is_file:
        close = _meant(program, project)
        advice = f"did you mean {close}?" if close else ""
        return [Fault(path, f"no such file: {program!r}", advice=advice)]
    if not resolved.is_relative_to(project.resolve()):
        return [Fault(path, f"{program!r} leads outside the project")]
    try:
        return [Fault(path, broken) for broken in broken_sources(project, program)]
    except OSError as error:
        return [Fault(path, f"cannot read {error.filename}: {error.strerror}")]


def _meant(program: str, project: FilePath) -> str | None:
    """The program most like one that is not there, of the project's or of the folder named."""
    folders = {_PROGRAMS, FilePath(program).parent.as_posix()}
    found = [path for folder in sorted(folders) for path in (project / folder).glob("*.py")]
    by_name = {
        path.name: path.relative_to(project).as_posix()
        for path in found
        if path.is_file() and path.resolve().is_relative_to(project.resolve())
    }
    close = nearest(FilePath(program).name, by_name)
    return by_name[close] if close else None


_PROGRAMS = "training/programs"


def _size_faults(path: Path, program: str, project: FilePath) -> list[Fault]:
    sizes = {name: len(text) for name, text in program_contents(project, program).items()}
    total = sum(sizes.values())
    if total <= MOST_CODE_BYTES:
        return []
    largest = max(sizes, key=sizes.__getitem__)
    return [
        Fault(
            path,
            f"its files have {total:,} bytes, and a ConfigMap, by which code travels, holds "
            f"{MOST_CODE_BYTES:,}; the largest is {largest} ({sizes[largest]:,}): put data on the "
            "shared storage, or the code into an image and write image and command",
        )
    ]


def _folder_faults(storage: str, project: FilePath) -> list[Fault]:
    path: Path = ("storage", "path")
    folder = project / storage
    # The nearest that exists decides: what is missing below it will be made.
    for place in (folder, *folder.parents):
        try:
            if not place.exists():
                if place.is_symlink():
                    return [Fault(path, f"{place} is a link to nothing")]
                continue
        except OSError as error:
            return [Fault(path, f"cannot be used: {error.strerror}")]
        if not place.is_dir():
            return [Fault(path, f"{place} is a file; it must be a folder")]
        if not os.access(place, os.W_OK | os.X_OK):
            return [Fault(path, f"this user may not write in {place}")]
        return []
    return []
