"""A bare script's way to start what a stack starts."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from supervisor.replicas import PASSED_ON


@contextlib.contextmanager
def bare(specs: Iterable[Mapping[str, Any]], directory: Path) -> Iterator[None]:
    """Starts every process of the supervisors' `specs` at once, and nothing that watches them.

    On the way out all of them, with what they started, are killed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    kept = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for spec in specs:
            for replica in spec["replicas"]:
                name = f"{spec['name']}-{replica['role']}-{replica['index']}.log"
                with (directory / name).open("wb") as log:
                    started.append(
                        subprocess.Popen(
                            replica["command"],
                            cwd=spec["working_directory"],
                            env=kept | replica["environment"],
                            stdin=subprocess.DEVNULL,
                            stdout=log,
                            stderr=subprocess.STDOUT,
                            start_new_session=True,
                        )
                    )
        yield
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
