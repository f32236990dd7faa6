"""A kubeconfig, and the one context of it that is meant: kubectl's rules, without its fallbacks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.errors import ClusterError

_FILES_OF_CLUSTER = ("certificate-authority",)
_FILES_OF_USER = ("client-certificate", "client-key", "tokenFile")


@dataclass(frozen=True)
class Target:
    """The context, and what it names: `cluster` and `user` as the kubeconfig spells them, with
    absolute paths."""

    context: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]

    @property
    def server(self) -> str:
        return str(self.cluster["server"]).rstrip("/")


def default_files() -> list[Path]:
    """The files kubectl reads when it is told none: those of $KUBECONFIG, else ~/.kube/config."""
    named = [name for name in os.environ.get("KUBECONFIG", "").split(os.pathsep) if name]
    if not named:
        return [Path("~/.kube/config").expanduser()]
    # Like kubectl: a list may name files that are not there, as long as one is.
    found = [Path(name) for name in named]
    return [path for path in found if path.exists()] or found


def read(files: Sequence[Path]) -> dict[str, Any]:
    """The files as one kubeconfig: of what two of them define, the first counts. ClusterError when
    one is not there or no kubeconfig."""
    merged: dict[str, Any] = {"clusters": [], "contexts": [], "users": []}
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ClusterError(f"kubeconfig {path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ClusterError(f"kubeconfig {path} is no YAML") from None
        found = parse(text, f"kubeconfig {path}")
        for section in ("clusters", "contexts", "users"):
            merged[section] += _absolute(found.get(section) or [], path.absolute().parent)
        merged.setdefault("current-context", found.get("current-context") or None)
    return merged


def parse(text: str, name: str) -> dict[str, Any]:
    """The kubeconfig of `text`; `name` is what an error calls it."""
    # Here and not above: a preview of a local stack never reads one.
    import yaml

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # Not the error's own text, which quotes the line, and that may hold a token.
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise ClusterError(f"{name} is no YAML{where}") from None
    sections = ("clusters", "contexts", "users")
    if not isinstance(found, dict) or not any(section in found for section in sections):
        raise ClusterError(f"{name} is no kubeconfig: it has no clusters and no contexts")
    for section in sections:
        entries = found.get(section) or []
        if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
            raise ClusterError(f"{name} is no kubeconfig: {section} is no list of named entries")
    return found


def choose(found: Mapping[str, Any], context: str | None, name: str) -> Target:
    """The target of `context`, else of the current context of `found`."""
    chosen = context or found.get("current-context")
    names = [str(entry["name"]) for entry in found.get("contexts") or []]
    if not chosen:
        raise ClusterError(f"{name} has no current-context: name one of {_listed(names)}")
    if chosen not in names:
        raise ClusterError(f"{name} has no context {chosen}: it has {_listed(names)}")
    what = _named(found, "contexts", chosen).get("context") or {}
    cluster = _named(found, "clusters", what.get("cluster")).get("cluster") or {}
    if not cluster.get("server"):
        raise ClusterError(f"{name}: context {chosen} names no cluster that has a server")
    user = what.get("user")
    entry = _named(found, "users", user)
    if user and not entry:
        raise ClusterError(f"{name}: context {chosen} names the user {user}, which it has not")
    return Target(str(chosen), cluster, entry.get("user") or {})


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def _named(found: Mapping[str, Any], section: str, name: object) -> Mapping[str, Any]:
    for entry in found.get(section) or []:
        if entry["name"] == name:
            return dict(entry)
    return {}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _absolute(entries: Sequence[Mapping[str, Any]], folder: Path) -> Iterator[dict[str, Any]]:
    """The entries with paths that no longer depend on where their file lies."""
    for entry in entries:
        made = dict(entry)
        for section, keys in (("cluster", _FILES_OF_CLUSTER), ("user", _FILES_OF_USER)):
            if isinstance(entry.get(section), dict):
                made[section] = _with_absolute(entry[section], keys, folder)
        yield made


def _with_absolute(section: Mapping[str, Any], keys: Sequence[str], folder: Path) -> dict[str, Any]:
    made = dict(section)
    for key in keys:
        if made.get(key):
            made[key] = str(folder / str(made[key]))
    plugin = made.get("exec")
    # A bare name is looked up on PATH; kubectl takes anything else relative to the file.
    if isinstance(plugin, dict) and "/" in str(plugin.get("command", "")):
        made["exec"] = {**plugin, "command": str(folder / str(plugin["command"]))}
    return made
