"""`python -m benchmarks [SECTION …] [--write]`: prints tables; --write puts them on the page."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import cluster_preview, facts, first_step, modes, preview, set_up
from benchmarks.report import with_section
from benchmarks.workspace import PROJECT, PULUMI, Failed

PAGE = PROJECT / "docs" / "benchmarks.md"
SECTIONS = ("preview", "first-step", "modes", "setup")
NAMED = ("cluster-preview",)
"""Sections that need more than this checkout, and are measured only when they are named."""


def main(arguments: Sequence[str]) -> int:
    """0 when every section asked for was measured, whatever came out."""
    options = _options(arguments)
    measures: dict[str, Callable[[Path], list[str]]] = {
        "preview": lambda path: [preview.measure(path, options.pairs or 9).markdown()],
        "first-step": lambda path: [first_step.measure(path, options.pairs or 3).markdown()],
        "modes": lambda path: [
            table.markdown() for table in modes.measure(path, options.pairs or 3, options.steps)
        ],
        "cluster-preview": lambda path: [
            cluster_preview.measure(path, options.pairs or 5).markdown()
        ],
        "setup": lambda path: [set_up.measure_again(path, options.pairs or 5).markdown()],
        "from-nothing": lambda path: [set_up.measure_from_nothing(path).markdown()],
    }
    chosen = list(options.sections or SECTIONS)
    if options.from_nothing:
        chosen.append("from-nothing")
    elif "setup" in chosen:
        print("`make up` from nothing takes ten minutes and more: measured with --from-nothing.")
    version = subprocess.run([PULUMI, "version"], capture_output=True, text=True, check=True)
    for section in dict.fromkeys(chosen):
        machine = facts.machine(version.stdout.strip())
        directory = Path(tempfile.mkdtemp(prefix="ack-training-bench-"))
        try:
            parts = measures[section](directory)
        except Failed as error:
            print(f"{section}: {error}", file=sys.stderr)
            return 1
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        text = "\n\n".join([*parts, machine])
        print(f"\n{section}\n\n{text}", flush=True)
        if options.write:
            page = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(with_section(page, section, text), encoding="utf-8")
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    # Not `choices`, which argparse of Python 3.11 holds against having none.
    parser.add_argument(
        "sections",
        nargs="*",
        type=_section,
        metavar="SECTION",
        help=f"of {', '.join(SECTIONS)}; default: all; and {', '.join(NAMED)}",
    )
    parser.add_argument("--pairs", type=_count, help="rounds of each section")
    parser.add_argument("--steps", type=_count, default=1000, help="training steps of a mode")
    parser.add_argument(
        "--from-nothing",
        action="store_true",
        help="also `make up` without any cache: downloads and builds everything",
    )
    parser.add_argument("--write", action="store_true", help=f"rewrite docs/{PAGE.name}")
    return parser.parse_args(arguments)


def _section(text: str) -> str:
    if text not in (*SECTIONS, *NAMED):
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join((*SECTIONS, *NAMED))}")
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
