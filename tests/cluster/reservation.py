"""Numbers of test clusters that no other test run uses at the time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from toolchain.cluster.place import Place
from toolchain.cluster.processes import running_nodes
from toolchain.places import make_folder

NUMBERS = range(200, 220)
"""What a person starts by hand has a lower one."""


@contextmanager
def reserved_place() -> Iterator[Place]:
    """Held as long as this process lives at most."""
    for place in map(Place, NUMBERS):
        folder = place.folder.with_name(f"{place.instance}-reserved")
        make_folder(folder)
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            continue
        try:
            if _is_anothers(place):
                continue
            yield place
            return
        finally:
            os.close(handle)
    raise AssertionError(f"all test clusters {NUMBERS[0]} to {NUMBERS[-1]} are in use")


def _is_anothers(place: Place) -> bool:
    nodes = (node for node in running_nodes() if node.instance == place.instance)
    return any(node.folder != place.folder for node in nodes)
