"""What a reader must know of the machine to judge a figure, without naming the machine."""

import os
import platform
import time
from importlib import metadata
from pathlib import Path

_PACKAGES = ("pulumi", "tensorflow-cpu", "pydantic")


def machine(pulumi_version: str) -> str:
    """One sentence: date, cores, memory, load average of now, versions."""
    one, five, _ = os.getloadavg()
    python = ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)
    return (
        f"Measured on {time.strftime('%Y-%m-%d')}: {os.cpu_count()} cores, {memory()}, "
        f"load average before {one:.2f} (1 min), {five:.2f} (5 min); "
        f"{platform.system()}, Python {platform.python_version()}, "
        f"Pulumi {pulumi_version.removeprefix('v')}, packages {python}."
    )


def memory() -> str:
    """`16 GiB`, in whole GiB; where it cannot be told, so it says."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return "memory unknown"
    kibibytes = next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))
    return f"{round(kibibytes / 1024**2)} GiB"
