"""`python -m console watch`, `python -m console logs` and `python -m console tensorboard`."""

import argparse
import sys
from pathlib import Path

from cluster.errors import ClusterError
from console import logs
from console.choice import NotFoundError
from console.source import Source, open_source
from console.stack_file import StackFileError

PROJECT = Path(__file__).resolve().parent.parent

_MOST_PORT = 65535


def main(arguments: list[str]) -> int:
    """Runs one view. Exit codes: 0 shown, 1 the cluster cannot be asked, 2 asked for something that
    is not there."""
    options = _parser().parse_args(arguments)
    try:
        return _show(options, open_source(PROJECT, options.stack))
    except (NotFoundError, StackFileError) as error:
        print(error, file=sys.stderr)
        return 2
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 0


def _show(options: argparse.Namespace, source: Source) -> int:
    if options.view == "watch":
        # Here and not above: a log needs no table.
        from console import watch

        return (watch.print_once if options.once else watch.follow)(source)
    if options.view == "tensorboard":
        return source.tensorboard(options.port)
    read = logs.print_once if options.no_follow else logs.follow
    return read(source.log(options.job, options.replica))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="console", allow_abbrev=False)
    views = parser.add_subparsers(dest="view", required=True)
    table = views.add_parser("watch", help="a live table of every replica", allow_abbrev=False)
    table.add_argument("--once", action="store_true", help="print it once, do not follow")
    log = views.add_parser("logs", help="the log of one replica", allow_abbrev=False)
    log.add_argument("--job")
    log.add_argument("--replica")
    log.add_argument("--no-follow", action="store_true", help="print it, do not wait for more")
    board = views.add_parser(
        "tensorboard", help="TensorBoard of the stack, on this machine", allow_abbrev=False
    )
    board.add_argument("--port", type=_port, help="of this machine (default 6006 or the next free)")
    for view in (table, log, board):
        view.add_argument("--stack", default="local", help="name of the stack (default local)")
    return parser


def _port(text: str) -> int:
    if text.isdecimal() and 0 < int(text) <= _MOST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a port from 1 to {_MOST_PORT}, got {text!r}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
