"""`python -m toolchain.cluster [--instance N] up|down|status|build|import ARCHIVE NAME…`: a test
cluster by hand."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from toolchain.cluster.images import import_image
from toolchain.cluster.lifecycle import down, up, what_lacks
from toolchain.cluster.place import Place
from toolchain.cluster.programs import cluster_programs, ensure_machine, training_operator
from toolchain.report import exit_code_of, say


def main(arguments: Sequence[str]) -> int:
    asked = _parser().parse_args(arguments)
    return exit_code_of(lambda: _run(asked), "what had been started was taken down")


def _run(asked: argparse.Namespace) -> int:
    place = Place(asked.instance)
    if asked.command == "up":
        up(place)
        say(f"  export KUBECONFIG={place.kubeconfig}")
        say(f"  kubectl: {cluster_programs()['kubectl']}")
    elif asked.command == "build":
        ensure_machine()
        cluster_programs()
        training_operator()
    elif asked.command == "down":
        down(place)
    elif asked.command == "import":
        changed = import_image(place, asked.archive, asked.names)
        say(f"{', '.join(asked.names)}: {'imported' if changed else 'there already'}")
    else:
        lack = what_lacks(place)
        say(f"Test cluster {place.instance}: {lack or f'up, KUBECONFIG={place.kubeconfig}'}")
        return 1 if lack else 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m toolchain.cluster", description=__doc__)
    parser.add_argument(
        "--instance", type=int, choices=range(256), default=0, metavar="N", help="0 to 255"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start it, or say that it is up")
    commands.add_parser("down", help="remove everything of it")
    commands.add_parser("status", help="exit code 0 when it can be used")
    commands.add_parser("build", help="build its programs, where `up` would do so")
    importing = commands.add_parser("import", help="bring an image into it")
    importing.add_argument("archive", type=Path, help="an OCI archive")
    importing.add_argument("names", nargs="+", help="the image's complete names")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
