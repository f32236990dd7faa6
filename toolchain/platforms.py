"""The machines that TensorFlow can be had for. Others are told at once, before anything long."""

import os
import platform

from toolchain.report import Stop
from toolchain.versions import parse_version

TENSORFLOW = "2.21.0"
"""The version whose packages this was looked up for; a test holds it to versions.toml."""

WORKING = (
    "Linux on x86_64 or arm64 with glibc 2.27 or later, and macOS 12 or later on Apple silicon"
)
_LOWEST = {
    ("Linux", "x86_64"): (2, 27),
    ("Linux", "aarch64"): (2, 27),
    ("Darwin", "arm64"): (12,),
}


def ensure_platform() -> None:
    """Raises Stop where `.venv` could never be filled."""
    system = platform.system()
    reason = unfit(system, platform.machine(), _release(system))
    if reason:
        raise Stop(f"there is no TensorFlow {TENSORFLOW} for {reason}: it needs {WORKING}")


def unfit(system: str, machine: str, release: str) -> str:
    """What of a machine rules it out, "" when nothing does. `release` is that of glibc or macOS,
    "" where there is none."""
    lowest = _LOWEST.get((system, machine))
    if lowest is None:
        # An Intel Python runs on Apple silicon too, and takes the machine for an Intel one.
        hint = " (on Apple silicon: for a Python built for Intel)" if system == "Darwin" else ""
        return f"{'macOS' if system == 'Darwin' else system} on {machine}{hint}"
    if parse_version(release) >= lowest:
        return ""
    if system == "Darwin":
        return f"macOS {release}"
    return release or "a Linux without glibc"


def _release(system: str) -> str:
    if system != "Linux":
        return platform.mac_ver()[0]
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""
