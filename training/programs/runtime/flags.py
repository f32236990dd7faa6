"""Flags of a training program: the runtime's own and those the program adds."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from typing import NoReturn

from runtime.errors import ReplicaError

Options = argparse.Namespace


class FlagParser(argparse.ArgumentParser):
    """An argparse parser that reports a wrong flag in one line."""

    def error(self, message: str) -> NoReturn:
        raise ReplicaError(message)


def parse_flags(
    program: str,
    argv: Sequence[str],
    add_flags: Callable[[argparse.ArgumentParser], None],
) -> Options:
    """Options given by `argv`. Raises ReplicaError for an unknown flag or a wrong value.

    `--help` prints the flags and exits 0.
    """
    parser = FlagParser(prog=program, allow_abbrev=False)
    _add_runtime_flags(parser)
    add_flags(parser)
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        raise ReplicaError(_unknown(unknown[0], _flag_names(parser)))
    return options


def _add_runtime_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--steps", type=_count, default=2000, help="train up to this global step (default 2000)")
    add("--batch-size", type=_count, default=64, help="examples per step, all replicas together")
    add("--learning-rate", type=_positive, default=0.001, help="peak learning rate")
    add("--checkpoint-every", type=_count, default=200, help="steps between checkpoints")
    add(
        "--evaluate-every",
        type=_count_or_none,
        default=0,
        help="steps between evaluations; 0: the evaluator takes every checkpoint, and without an"
        " evaluator there is one evaluation, at the end",
    )
    add("--log-every", type=_count, default=100, help="steps between points of the curves")
    add("--seed", type=_count_or_none, default=1, help="seed of the weights and of the shuffling")
    add(
        "--idle-timeout",
        type=_positive,
        default=600.0,
        help="seconds without one finished step after which peers count as lost (default 600)",
    )
    add("--job-dir", help="directory of checkpoints, logs and exports, when run by hand")
    add("--datasets-dir", help="directory of datasets, when run by hand (default data/datasets)")


def _count(text: str) -> int:
    return _whole(text, 1)


def _count_or_none(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if text.isascii() and text.isdigit() and int(text) >= least:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if 0 < value < float("inf"):
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")


def _flag_names(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in parser._actions for name in action.option_strings]


def _unknown(argument: str, known: list[str]) -> str:
    name = argument.split("=", 1)[0]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; --help lists the flags"
    return f"{name} is no flag of this program{hint}"
