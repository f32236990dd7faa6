"""The kernel's limit on inotify instances, which one cluster after the other uses up: about 20 of
the usual 128 each, of all that one user may have on the machine."""

from pathlib import Path

from toolchain.cluster.processes import running_nodes
from toolchain.places import cache

_SETTING = Path("/proc/sys/fs/inotify/max_user_instances")
_ENOUGH = 1024


def raise_limits() -> None:
    """Afterwards the limit is high enough for a few clusters. What it was is kept, for
    `restore_limits`."""
    limit = int(_SETTING.read_text(encoding="utf-8"))
    if limit < _ENOUGH:
        _before().write_text(str(limit), encoding="utf-8")
        _SETTING.write_text(str(_ENOUGH), encoding="utf-8")


def restore_limits() -> None:
    """Sets the limit back when no cluster is left on this machine, unless it was changed since."""
    before = _before()
    if running_nodes() or not before.exists():
        return
    if int(_SETTING.read_text(encoding="utf-8")) == _ENOUGH:
        _SETTING.write_text(before.read_text(encoding="utf-8"), encoding="utf-8")
    before.unlink()


def _before() -> Path:
    return cache() / "clusters" / "inotify-limit-before"
