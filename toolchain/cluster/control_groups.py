"""The control groups that a cluster's pods are counted in."""

import os
import time
from pathlib import Path

from toolchain.cluster.place import Place
from toolchain.report import Stop

_ROOT = Path("/sys/fs/cgroup")
_EMPTY_SECONDS = 30.0


def make_control_groups(place: Place) -> None:
    """Afterwards each hierarchy of this machine has the cluster's group."""
    for hierarchy in _hierarchies(_ROOT):
        (hierarchy / place.control_group).mkdir(exist_ok=True)


def remove_control_groups(place: Place) -> None:
    """Removes them with all groups in them; the processes must have been ended."""
    deadline = time.monotonic() + _EMPTY_SECONDS
    for hierarchy in _hierarchies(_ROOT):
        top = hierarchy / place.control_group
        for folder, _, _ in os.walk(top, topdown=False):
            while not _removed(Path(folder)):
                if time.monotonic() > deadline:
                    raise Stop(f"the control group {folder} still has processes")
                time.sleep(0.02)


def _hierarchies(root: Path) -> list[Path]:
    """One folder where all controllers are together (version 2), else one for each controller."""
    if (root / "cgroup.controllers").exists():
        return [root]
    folders = (folder for folder in root.iterdir() if not folder.is_symlink())
    return sorted(folder for folder in folders if (folder / "cgroup.procs").exists())


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # a process is still ending in it
        return False
    return True
