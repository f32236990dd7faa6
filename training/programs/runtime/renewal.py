"""Makes a process new in its place: same command, same pid, none of the memory.

A TensorFlow server that served one chief keeps connections and half-done steps of it. One that
then served the next chief was seen to let a step hang for ever after a parameter server was lost.
To end the process instead would count as a restart of the replica.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NoReturn

from runtime.cluster import OPERATOR_TF_CONFIG

_RENEWED = "ACK_TRAINING_RENEWED"


def renew() -> NoReturn:
    """Starts this process's program again in its place, with the environment it was given."""
    os.environ[_RENEWED] = "1"
    if OPERATOR_TF_CONFIG in os.environ:
        os.environ["TF_CONFIG"] = os.environ.pop(OPERATOR_TF_CONFIG)
    sys.stdout.flush()
    sys.stderr.flush()
    _close_at_exec()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def is_renewed(environment: Mapping[str, str]) -> bool:
    """Whether this process has renewed itself: it was part of the running job before."""
    return environment.get(_RENEWED) == "1"


def _close_at_exec() -> None:
    """Nothing but standard streams passes on: a socket that did would keep this replica's port."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                continue  # the one that listed them
