"""A volume in a temporary folder, and this process as the user of a pod."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from workloads.volume.place import Volume

USER, GROUP = 1000, 1000
OWNER = "acme/training/dev"
OTHER = "acme/other/dev"


@pytest.fixture
def root() -> Iterator[Path]:
    """The root of a volume, which any user can get to: pytest's own folders are their user's."""
    folder = Path(tempfile.mkdtemp(prefix="ack-training-volume-")).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def volume(root: Path) -> Volume:
    return Volume(root, "/srv/training", "the node", OWNER)


@pytest.fixture
def other(root: Path) -> Volume:
    """The same volume as another stack has it."""
    return Volume(root, "/srv/training", "the node", OTHER)


@pytest.fixture
def as_user() -> Iterator[tuple[int, int]]:
    """What the test does is done without the rights of root; gives user and group."""
    if os.geteuid() != 0:
        yield os.geteuid(), os.getegid()
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(GROUP)
    os.seteuid(USER)
    try:
        yield USER, GROUP
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


@pytest.fixture
def datasets(root: Path) -> Path:
    folder = root / "datasets"
    folder.mkdir()
    return folder
