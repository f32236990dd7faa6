"""`python -m console watch` and `python -m console logs`."""

import argparse
import sys
from pathlib import Path

from console import logs, watch

PROJECT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Runs one view. Exit codes: 0 shown, 2 asked for something that is not there."""
    parser = argparse.ArgumentParser(prog="console")
    views = parser.add_subparsers(dest="view", required=True)
    table = views.add_parser("watch", help="a live table of every replica")
    table.add_argument("--once", action="store_true", help="print it once, do not follow")
    log = views.add_parser("logs", help="the log of one replica")
    log.add_argument("--job")
    log.add_argument("--replica")
    log.add_argument("--no-follow", action="store_true", help="print it, do not wait for more")
    parser.allow_abbrev = table.allow_abbrev = log.allow_abbrev = False
    for view in (table, log):
        view.add_argument("--stack", default="local", help="name of the stack (default local)")
    options = parser.parse_args(arguments)
    state = PROJECT / ".ack-training" / options.stack
    if not state.is_dir() and not (PROJECT / f"Pulumi.{options.stack}.yaml").is_file():
        print(f"there is no stack {options.stack} here", file=sys.stderr)
        return 2
    try:
        if options.view == "watch":
            show = watch.print_once if options.once else watch.follow
            return show(state)
        read = logs.print_once if options.no_follow else logs.follow
        return read(logs.find(state, options.job, options.replica))
    except logs.NotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyboardInterrupt, BrokenPipeError):
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
