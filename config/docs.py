"""Writes docs/config.md and docs/config.schema.json from the schema: `python -m config.docs`.

With --check nothing is written, and the exit code is 1 when they are not what would be.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from config.base import NAMESPACE, Port, Section, Whole
from config.json_schema import stack_file_schema
from config.quantities import Cpu, Memory
from config.stack import Stack

EXAMPLE = Path(__file__).with_name("example.yaml")
FOLDER = Path(__file__).parents[1] / "docs"

_HEAD = f"""# Stack config

Every key of `Pulumi.<stack>.yaml`, generated from the schema by `make docs`. `pulumi config set
--path '{NAMESPACE}:jobs.distributed-mnist.worker.replicas' 4` sets one; editing the file does too.

- Unknown keys and wrong types are errors, all of them told at once, before any resource exists.
- A key with nothing after it leaves the setting at its default. `chief:`, `worker:`, `ps:`,
  `evaluator:`, `export:` and `serve:` alone mean `{{}}`: the role or service is there.
- Durations are whole days, hours, minutes and seconds: `90s`, `30m`, `2h30m`, `1d`.
- Arguments and environment variables are strings: write `"3"` with quotes, or give
  `pulumi config set` the option `--type string`.
- Memory has a unit: `8Gi` (1024³), `8G` (1000³). CPU is in cores: `2`, `0.5`, `500m`.
- Secrets go into `env` of a job, by `pulumi config set --secret --path
  '{NAMESPACE}:jobs.distributed-mnist.env.TOKEN'`. Elsewhere a secret is an error.
- Editors complete the file from [config.schema.json](config.schema.json): start it with
  `# yaml-language-server: $schema=docs/config.schema.json`.
"""


def reference() -> str:
    """The text of docs/config.md."""
    parts = [_HEAD, "## Example\n", f"```yaml\n{EXAMPLE.read_text(encoding='utf-8')}```\n"]
    for section, title in _sections(Stack, f"{NAMESPACE}:", []):
        parts.append(f"## {title}\n\n{_first_line(section)}\n")
        if section.model_fields:
            parts.append("\n".join(_table(section)) + "\n")
    return "\n".join(parts)


def schema() -> str:
    """The text of docs/config.schema.json."""
    return json.dumps(stack_file_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Writes or checks both files; the process's exit code."""
    parser = argparse.ArgumentParser(prog="python -m config.docs")
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    check = parser.parse_args(arguments).check
    texts = {folder / "config.md": reference(), folder / "config.schema.json": schema()}
    stale = [file for file, text in texts.items() if _read(file) != text]
    for file in stale:
        if check:
            print(f"{file.name} is stale: run make docs", file=sys.stderr)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(texts[file], encoding="utf-8")
    return 1 if check and stale else 0


def _read(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _sections(
    section: type[Section], title: str, seen: list[type[Section]]
) -> Iterator[tuple[type[Section], str]]:
    """Each section once, parents before children, with the path of the first place it is at."""
    if section in seen:
        return
    seen.append(section)
    yield section, f"`{title}`" if section is not Stack else "Top level"
    for key, field in _settings(section):
        child, name = _child(field.annotation)
        if child is not None:
            separator = "" if section is Stack else "."
            yield from _sections(child, f"{title}{separator}{key}{name}", seen)


def _settings(section: type[Section]) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in section.model_fields.items():
        yield field.alias or name, field


def _child(annotation: Any) -> tuple[type[Section] | None, str]:
    """The section that an annotation holds, and `.<name>` when it holds many by name."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation, ""
    if get_origin(annotation) is dict:
        return _child(get_args(annotation)[1])[0], ".<name>"
    found = (_child(option) for option in get_args(annotation) if option is not NoneType)
    return next((each for each in found if each[0] is not None), (None, ""))


def _table(section: type[Section]) -> Iterator[str]:
    yield "| key | type | default | meaning | a change |"
    yield "|---|---|---|---|---|"
    for key, field in _settings(section):
        extra = field.json_schema_extra
        change = extra.get("x-on-change", "") if isinstance(extra, dict) else ""
        cells = (
            f"`{key}`",
            _type(field.annotation, field.metadata),
            _default(field),
            field.description or "",
            str(change),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(annotation: Any, metadata: list[Any]) -> str:
    if hasattr(annotation, "__metadata__"):
        return _type(annotation.__origin__, list(annotation.__metadata__))
    options = [option for option in get_args(annotation) if option is not NoneType]
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{option}`" for option in options)
    if get_origin(annotation) is dict:
        return "mapping"
    if get_origin(annotation) is tuple:
        item = get_args(annotation)[0]
        is_section = isinstance(item, type) and issubclass(item, Section)
        return "list of mappings" if is_section else "list of strings"
    if options:
        return _type(options[0], metadata)
    whole = next((each for each in metadata if isinstance(each, Whole)), None)
    if whole is not None:
        return "port" if isinstance(whole, Port) else "whole number"
    names = {bool: "`true` or `false`", timedelta: "duration", Cpu: "CPU", Memory: "memory"}
    return names.get(annotation, "string" if annotation is str else "mapping")


def _default(field: FieldInfo) -> str:
    default = field.default
    if field.is_required():
        return "required"
    if default is None or default is PydanticUndefined or default in ((), ""):
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, timedelta):
        seconds = int(default.total_seconds())
        return f"`{seconds // 60}m`" if seconds % 60 == 0 else f"`{seconds}s`"
    return f"`{default}`"


def _first_line(section: type[Section]) -> str:
    return (section.__doc__ or "").strip().split("\n\n")[0]


if __name__ == "__main__":
    sys.exit(main())
