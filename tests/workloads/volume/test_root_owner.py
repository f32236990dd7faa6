"""The root of a volume that the kubelet has just made is given away; any other stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workloads.volume.harness import contents
from workloads.volume.place import Volume
from workloads.volume.root_owner import own

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")


@pytest.mark.parametrize("held", [[], ["lost+found"]])
def test_an_empty_root_of_root_is_given_away(volume: Volume, root: Path, held: list[str]) -> None:
    for name in held:
        (root / name).mkdir()
    assert own(volume, 2000, 3000) == "/srv/training was given to user 2000, group 3000"
    assert (root.stat().st_uid, root.stat().st_gid) == (2000, 3000)
    assert all((root / name).stat().st_uid == 0 for name in held)
    assert own(volume, 2000, 3000) == "/srv/training belongs to user 2000, and is left so"


def test_a_root_that_holds_something_is_left(volume: Volume, root: Path) -> None:
    (root / "etc").mkdir()
    before = contents(root)
    assert own(volume, 2000, 3000) == "/srv/training is not empty, and is left to root"
    assert root.stat().st_uid == 0
    assert contents(root) == before


def test_a_users_folder_is_left(volume: Volume, root: Path) -> None:
    os.chown(root, 1234, 1234)
    assert own(volume, 2000, 3000) == "/srv/training belongs to user 1234, and is left so"
    assert (root.stat().st_uid, root.stat().st_gid) == (1234, 1234)
