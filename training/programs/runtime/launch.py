"""Runs a user's program as a replica: checks TF_CONFIG first, then executes the file."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from runtime import fit_guard
from runtime.cluster import OPERATOR_TF_CONFIG, Cluster, read_cluster
from runtime.errors import BAD_INPUT, ReplicaError
from runtime.flags import steps_asked
from runtime.keras_settings import settle_keras
from runtime.program_text import read_program
from runtime.progress import Progress, progress_directory

USAGE = "usage: python -m runtime program.py [flags of the program]"


def main() -> None:
    """Executes the program named by the first argument as __main__, with the others.

    The program need not use this runtime: it is given a TF_CONFIG that TensorFlow's own resolvers
    accept, and a clear error if it calls fit() where Keras 3 cannot.
    """
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(USAGE, file=sys.stderr)
        sys.exit(BAD_INPUT if len(sys.argv) < 2 else 0)
    program = Path(sys.argv[1])
    try:
        if not program.is_file():
            raise ReplicaError(f"there is no program {program}")
        cluster = read_cluster(os.environ)
        settle_keras(os.environ)
    except ReplicaError as error:
        print(f"{program.name}: {error}", file=sys.stderr)
        sys.exit(error.code)
    _say_that_it_starts(program, cluster, sys.argv[2:])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    fit_guard.install()
    if os.environ.get("TF_CONFIG"):
        os.environ[OPERATOR_TF_CONFIG] = os.environ["TF_CONFIG"]
        os.environ["TF_CONFIG"] = cluster.tf_config()
    sys.argv = [str(program), *sys.argv[2:]]
    sys.path[0] = str(program.resolve().parent)
    runpy.run_path(str(program), run_name="__main__")


def _say_that_it_starts(program: Path, cluster: Cluster, argv: list[str]) -> None:
    """The progress file says so before the program runs, which may import TensorFlow at once.

    Of a program that does not use this runtime nothing else would ever be told, so nothing is.
    """
    directory = progress_directory(os.environ)
    if directory and read_program(program).uses_runtime:
        Progress(directory, cluster.task, steps_asked(argv)).update()
