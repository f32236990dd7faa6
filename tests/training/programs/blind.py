"""tabular.py where no worker but the leader ever sees a file that says the run is finished, as on a
shared file system that shows new files late."""

from __future__ import annotations

import json
import os

import runtime.run
from runtime import train
from tabular import Tabular

if json.loads(os.environ["TF_CONFIG"])["task"]["type"] == "worker":
    runtime.run.is_finished = lambda *_: False  # type: ignore[attr-defined]

if __name__ == "__main__":
    train(Tabular())
