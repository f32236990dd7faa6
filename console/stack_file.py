"""What a stack's file says, read without Pulumi: secrets in it stay as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

_NAMESPACE = "ack-training:"
_EXTENSIONS = ("yaml", "yml", "json")


class StackFileError(Exception):
    """There is no such stack, or its file is wrong; the text is one line for each fault."""


def read_sections(project: Path, stack: str, *, may_be_absent: bool) -> dict[str, Any]:
    """The top-level keys without their namespace, those that Pulumi.yaml has for every stack
    included. A secret is `{secure: …}`."""
    every = _yaml(project / "Pulumi.yaml") if (project / "Pulumi.yaml").is_file() else {}
    folder = every.get("stackConfigDir")
    config = every.get("config")
    if isinstance(config, str):
        # An older name of the key.
        folder, config = folder or config, {}
    base = project / (folder if isinstance(folder, str) else "")
    files = [base / f"Pulumi.{stack}.{extension}" for extension in _EXTENSIONS]
    file = next((file for file in files if file.is_file()), None)
    if file is None and not may_be_absent:
        raise StackFileError(f"there is no stack {stack} here")
    own = _yaml(file).get("config") if file else None
    return {**_sections(_defaults(config)), **_sections(own)}


def target_of(sections: Mapping[str, Any]) -> object:
    """Where the stack runs, as the file has it: it may be no target at all."""
    return sections.get("target") or "local"


def project_name(project: Path) -> str:
    """The project's name, by its Pulumi.yaml."""
    return str(_yaml(project / "Pulumi.yaml").get("name") or "")


def _sections(config: object) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in config.items() if isinstance(config, dict) else ():
        name = str(key)
        if name.startswith(_NAMESPACE):
            found[name.removeprefix(_NAMESPACE).removeprefix("config:")] = value
        elif ":" not in name:
            found.setdefault(name, value)
    return found


def _defaults(config: object) -> dict[str, Any]:
    """https://www.pulumi.com/docs/iac/concepts/config/#project-level-configuration"""
    return {
        key: about.get("value", about.get("default"))
        if isinstance(about, dict) and {"value", "default"} & set(about)
        else about
        for key, about in (config.items() if isinstance(config, dict) else ())
    }


def _yaml(file: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.load(file.read_text(encoding="utf-8"), Loader=_loader())
    except OSError as error:
        raise StackFileError(f"{file.name} cannot be read: {error.strerror}") from None
    except (UnicodeError, ValueError, RecursionError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise StackFileError(f"{file.name} is no YAML{where}") from None
    return content if isinstance(content, dict) else {}


def _loader() -> Any:
    """As Pulumi reads YAML: without dates, `on` and `off`, and 12:30 as a number in base 60."""
    import re

    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    for kind, pattern, first in (
        ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("int", "[-+]?[0-9]+|0x[0-9a-fA-F]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
        ("merge", "<<", "<"),
    ):
        tag = f"tag:yaml.org,2002:{kind}"
        Loader.add_implicit_resolver(tag, re.compile(f"^(?:{pattern})$"), list(first))
    return Loader
