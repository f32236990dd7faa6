"""The only reader of Pulumi's config."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any

from config.base import NAMESPACE
from config.errors import ConfigErrors, Path
from config.parse import parse
from config.secrets import SecretMarks, secret_leaves
from config.stack import Stack

_PREFIX = f"{NAMESPACE}:"


def load(project_directory: FilePath) -> Stack:
    """The config of the stack that runs now; `project_directory` is where Pulumi.yaml lies.

    Raises ConfigErrors with everything that is wrong, programs that do not exist included.
    """
    # Here and not above: who only parses a mapping need not wait for the SDK.
    import pulumi
    from pulumi.runtime import config as engine

    values = {**engine.get_config_env(), **engine.CONFIG.get()}
    secret_keys = {*engine.get_config_secret_keys_env(), *engine._SECRET_KEYS.get()}
    sections = {
        key.removeprefix(_PREFIX): _decoded(key.removeprefix(_PREFIX), value)
        for key, value in values.items()
        if key.startswith(_PREFIX)
    }
    secret = {key.removeprefix(_PREFIX) for key in secret_keys if key.startswith(_PREFIX)}
    marks = secret_marks(sections, secret, project_directory, pulumi.get_stack())
    misspelt = list(_misspelt(values))
    try:
        stack = parse(
            sections,
            marks=marks,
            project_directory=project_directory,
            region=values.get("alicloud:region"),
        )
    except ConfigErrors as errors:
        raise ConfigErrors([*misspelt, *errors.lines]) from None
    if misspelt:
        raise ConfigErrors(misspelt)
    return stack


def _misspelt(keys: Iterable[str]) -> Iterator[str]:
    """A line for each key whose namespace can only be meant for ours, and would go unread."""
    for key in sorted(keys):
        namespace, _, rest = key.partition(":")
        if namespace != NAMESPACE and get_close_matches(namespace, [NAMESPACE], cutoff=0.85):
            yield f"{key}: no such namespace; did you mean {_PREFIX}{rest}?"


def secret_marks(
    sections: dict[str, Any], secret: set[str], project_directory: FilePath, stack: str
) -> SecretMarks:
    """Which of the values below the top-level keys `secret` are secret, by the stack's file.

    A key that the file does not explain is opaque: all of its values are taken for secrets.
    """
    secret = secret & set(sections)
    if not secret:
        return SecretMarks()
    written = stack_file(project_directory, stack)
    leaves: set[Path] = set()
    opaque: set[str] = set()
    for key in secret:
        found = None
        for spelling in (f"{_PREFIX}{key}", f"{_PREFIX}config:{key}", key):
            if spelling in written:
                found = secret_leaves(written[spelling], sections[key], (key,))
        if found is None:
            opaque.add(key)
        else:
            leaves |= found
    return SecretMarks(frozenset(leaves), frozenset(opaque))


def _decoded(key: str, value: Any) -> Any:
    """What the engine hands over as text: mappings are JSON, `target` is plain."""
    if key not in Stack.settings() or not isinstance(value, str):
        return value
    # What the engine makes of a key with nothing after it.
    if not value:
        return None
    if key == "target":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def stack_file(project_directory: FilePath, stack: str) -> dict[str, Any]:
    """`config` of the stack's file, every scalar a string; empty when it cannot be read."""
    project = _yaml(project_directory / "Pulumi.yaml")
    folder = project.get("stackConfigDir") or project.get("config")
    base = project_directory / (folder if isinstance(folder, str) else "")
    for extension in ("yaml", "yml", "json"):
        config = _yaml(base / f"Pulumi.{stack}.{extension}").get("config")
        if isinstance(config, dict):
            return config
    return {}


def _yaml(file: FilePath) -> dict[str, Any]:
    # Only a stack with secrets needs it.
    import yaml

    try:
        content = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (OSError, UnicodeError, yaml.YAMLError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
