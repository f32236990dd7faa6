"""Programs that mount something and must leave no mount and no process behind, come what may."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def isolated(command: Sequence[str]) -> list[str]:
    """`command` in mount and process namespaces of its own. Both end with the process that starts
    it, and with it every mount and every process in them, also when that is killed."""
    own = ["--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return ["setpriv", "--pdeathsig=KILL", "unshare", *own, *command]


def run_isolated(command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    """Raises RuntimeError with the end of what it printed; `log` has all of it."""
    with log.open("ab") as output:
        ran = subprocess.run(
            isolated(command),
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
    if ran.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        raise RuntimeError("\n".join([f"{' '.join(command)} failed:", *lines]))
