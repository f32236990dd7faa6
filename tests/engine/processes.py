"""What runs on this machine on behalf of a workspace."""

import os
from pathlib import Path


def running_under(path: Path) -> list[int]:
    """Ids of the processes that a supervisor below `path` started, by the marker in their
    environment, and of the supervisors themselves."""
    marker = f"ACK_TRAINING_SUPERVISED={path}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            zombie = " Z " in (entry / "stat").read_text().rpartition(")")[2][:3]
        except (OSError, UnicodeDecodeError):
            continue
        if marker in environment and not zombie:
            found.append(int(entry.name))
    return found
