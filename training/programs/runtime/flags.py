"""Flags of a training program: the runtime's own and those the program adds."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from runtime.errors import ReplicaError

Options = argparse.Namespace

_COUNT_LIMIT = 2**31
"""TensorFlow takes sizes of batches as 32-bit numbers, and no run has more steps."""

_SEED_LIMIT = 2**32
"""numpy's generator takes no larger seed."""


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


def steps_asked(argv: Sequence[str]) -> int:
    """--steps of a program whose other flags are not known yet; 0 if it is wrong."""
    try:
        return int(_runtime_parser().parse_known_args(argv)[0].steps)
    except ReplicaError:
        return 0


def program_flags(options: Options) -> dict[str, Any]:
    """The values of the flags that the program added."""
    known = vars(_runtime_parser().parse_args([]))
    return {name: value for name, value in vars(options).items() if name not in known}


def _runtime_parser() -> FlagParser:
    parser = FlagParser(add_help=False, allow_abbrev=False)
    _add_runtime_flags(parser)
    return parser


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
    add("--seed", type=_seed, default=1, help="seed of the weights and of the shuffling")
    add(
        "--idle-timeout",
        type=_positive,
        default=600.0,
        help="seconds without one finished step after which peers count as lost (default 600)",
    )
    add("--job-dir", help="directory of checkpoints, logs and exports, when run by hand")
    add("--datasets-dir", help="directory of datasets, when run by hand (default data/datasets)")


def _count(text: str) -> int:
    return _whole(text, 1, _COUNT_LIMIT)


def _count_or_none(text: str) -> int:
    return _whole(text, 0, _COUNT_LIMIT)


def _seed(text: str) -> int:
    return _whole(text, 0, _SEED_LIMIT)


def _whole(text: str, least: int, limit: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
    # Python itself refuses to read a number of thousands of digits.
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(limit)) or int(digits) >= limit:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is too large: the most is {limit - 1}")
    if int(digits) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
    return int(digits)


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
