"""The program's commands. Each ends with one sentence or more, on the terminal and in the file that
MESSAGE_FILE names, from where Kubernetes shows it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workloads.volume import sources
from workloads.volume.filling import Dataset
from workloads.volume.place import Refused, Volume
from workloads.volume.prepare import prepare
from workloads.volume.renaming import renamed
from workloads.volume.root_owner import own

_MOST_BYTES = 4000
"""Kubernetes keeps 4096 of a message."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0, or 1 after a refusal."""
    options = _parser().parse_args(arguments)
    volume = Volume(options.root, options.path, options.where, options.owner)
    try:
        sentences, code = _run(options, volume), 0
    except Refused as refused:
        sentences, code = refused.sentences, 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sentences, code = [f"{place}{error.strerror or error}"], 1
    print(*sentences, sep="\n", file=sys.stderr if code else sys.stdout, flush=True)
    if path := os.environ.get("MESSAGE_FILE"):
        Path(path).write_text(_message(sentences), encoding="utf-8")
    return code


def _run(options: argparse.Namespace, volume: Volume) -> Sequence[str]:
    command: str = options.command
    if command == "own":
        return [own(volume, options.user, options.group)]
    if command == "prepare":
        return prepare(renamed(volume, options.formerly), dict(options.directory))
    dataset = Dataset(volume, options.name)
    match command:
        case "sample":
            return [sources.fill_sample(dataset)]
        case "url":
            return [sources.fill_from_url(dataset, options.url, options.sha256)]
        case "claim":
            return [
                sources.fill_from_claim(dataset, options.claim, options.claim_path, options.mounted)
            ]
        case "begin-image":
            return [sources.begin_image(dataset, options.status)]
        case _:
            return [
                sources.finish_image(dataset, options.image, options.image_path, options.status)
            ]


def _parser() -> argparse.ArgumentParser:
    every = argparse.ArgumentParser(add_help=False)
    every.add_argument("--root", type=Path, required=True, help="where the volume is mounted")
    every.add_argument("--path", required=True, help="where it lies")
    every.add_argument("--where", required=True, help="what that path is of")
    every.add_argument("--owner", required=True, help="organization/project/stack")
    parser = argparse.ArgumentParser(prog="python -m workloads.volume", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, *positional: str, paths: Sequence[str] = ()) -> argparse.ArgumentParser:
        added = commands.add_parser(name, parents=[every])
        for argument in positional:
            added.add_argument(argument, type=Path if argument in paths else str)
        return added

    own_command = command("own")
    own_command.add_argument("--user", type=int, required=True)
    own_command.add_argument("--group", type=int, required=True)
    prepare_command = command("prepare")
    prepare_command.add_argument(
        "--formerly", type=Path, help="a JSON list of what the owner was called before"
    )
    prepare_command.add_argument(
        "--directory",
        type=_directory,
        action="append",
        default=[],
        metavar="PATH=JOB",
        help="a job's directory below the root, and the job",
    )
    command("sample", "name")
    command("url", "name", "url", "sha256")
    command("claim", "name", "claim", "claim_path", "mounted", paths=("mounted",))
    command("begin-image", "name", "status", paths=("status",))
    command("finish-image", "name", "image", "image_path", "status", paths=("status",))
    return parser


def _directory(text: str) -> tuple[str, str]:
    path, _, job = text.partition("=")
    return path, job


def _message(sentences: Sequence[str]) -> str:
    """As many whole sentences as there is room for."""
    message = ""
    for index, sentence in enumerate(sentences):
        if len((message + sentence).encode()) > _MOST_BYTES:
            return f"{message}and {len(sentences) - index} more"
        message += f"{sentence}\n"
    return message


if __name__ == "__main__":
    sys.exit(main())
