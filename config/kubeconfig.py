"""Which cluster the config names, by the kubeconfig files of this machine. Nothing is contacted."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from config.errors import Fault, nearest
from config.kubernetes import Kubernetes

_FILE = ("kubernetes", "kubeconfig")
_CONTEXT = ("kubernetes", "context")
_SECTIONS = ("clusters", "contexts")


class KubeconfigError(Exception):
    """The files do not name one cluster; `fault` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True)
class Cluster:
    """A context of a kubeconfig. `file` is as the stack's file spells it, so that two people's
    checkouts mean the same, and None where that leaves it to each machine's KUBECONFIG; `server`
    is the API server's URL."""

    file: str | None
    context: str
    server: str


def find_cluster(
    settings: Kubernetes, project: FilePath, environment: Mapping[str, str]
) -> Cluster:
    """The cluster that `settings` name. A current-context never decides.

    Raises KubeconfigError when a file is missing or unreadable, or no or another context is there.
    """
    if settings.kubeconfig is not None:
        where = settings.kubeconfig
        document = _read(project / _expanded(where), where)
    else:
        where = "KUBECONFIG or ~/.kube/config"
        document = _merged(project, environment)
    contexts = _by_name(document, "contexts")
    _refuse_dangling(document, contexts, where)
    wanted = settings.context or _only(contexts, where)
    if wanted in contexts:
        return Cluster(settings.kubeconfig, wanted, _server(document, contexts[wanted], wanted))
    close = nearest(wanted, contexts)
    names = f"there are {', '.join(sorted(contexts))}" if contexts else "there is none"
    raise KubeconfigError(
        Fault(
            _CONTEXT,
            f"there is no context {wanted!r} in {where}",
            advice=f"did you mean {close}?" if close else names,
        )
    )


def _expanded(file: str) -> FilePath:
    """Pulumi's provider is given `file` as it is: what it takes otherwise is refused."""
    if not file.startswith("~"):
        return FilePath(file)
    own, known = FilePath("~").expanduser(), _known_home()
    if known not in (None, own):
        raise KubeconfigError(
            Fault(
                _FILE,
                f"~ is {str(own)!r} by HOME, and {str(known)!r} for Pulumi's provider",
                advice="leave it out, and have KUBECONFIG name the file",
            )
        )
    return FilePath(file).expanduser()


def _known_home() -> FilePath | None:
    """The home that the machine has on record, which Pulumi's provider goes by."""
    try:
        return FilePath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None


def _merged(project: FilePath, environment: Mapping[str, str]) -> dict[str, Any]:
    """The files that kubectl reads when it is told none, as one: of what two of them define, the
    first counts, and one that is not there is skipped."""
    merged: dict[str, Any] = {section: [] for section in _SECTIONS}
    given = [file for file in environment.get("KUBECONFIG", "").split(os.pathsep) if file]
    for file in given or [str(FilePath("~/.kube/config").expanduser())]:
        path = project / file
        if path.exists():
            document = _read(path, file)
            for section in _SECTIONS:
                merged[section] += _items(document, section)
            merged["current-context"] = merged.get("current-context") or document.get(
                "current-context"
            )
    return merged


def _refuse_dangling(document: Mapping[str, Any], contexts: Mapping[str, Any], where: str) -> None:
    """Pulumi's provider takes a kubeconfig whose current-context is not in it for none, whichever
    other context it is told."""
    current = document.get("current-context")
    if current and current not in contexts:
        raise KubeconfigError(
            Fault(
                _FILE,
                f"{where!r} has the current-context {current!r}, which is not in it",
                advice="set one with kubectl config use-context",
            )
        )


def _read(path: FilePath, file: str) -> Mapping[str, Any]:
    # Only a stack on a cluster needs it.
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except FileNotFoundError:
        raise KubeconfigError(Fault(_FILE, f"no such file: {file!r}")) from None
    except OSError as error:
        raise KubeconfigError(Fault(_FILE, f"cannot read {file!r}: {error.strerror}")) from None
    except (UnicodeError, yaml.YAMLError, RecursionError):
        raise KubeconfigError(Fault(_FILE, f"{file!r} is no kubeconfig: not YAML")) from None
    if not isinstance(document, dict) or not any(_items(document, name) for name in _SECTIONS):
        raise KubeconfigError(Fault(_FILE, f"{file!r} is no kubeconfig: it has no contexts"))
    return document


def _items(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    items = document.get(key)
    return [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []


def _by_name(document: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    return {str(each.get("name")): each for each in reversed(_items(document, key))}


def _only(contexts: Mapping[str, Any], where: str) -> str:
    if len(contexts) == 1:
        return next(iter(contexts))
    if not contexts:
        raise KubeconfigError(Fault(_FILE, f"{where!r} is no kubeconfig: it has no contexts"))
    names = ", ".join(sorted(contexts))
    raise KubeconfigError(
        Fault(_CONTEXT, f"is missing: {where!r} has several; name one of {names}")
    )


def _server(document: Mapping[str, Any], context: Mapping[str, Any], name: str) -> str:
    inner = context.get("context")
    cluster = str(inner.get("cluster")) if isinstance(inner, dict) else ""
    about = _by_name(document, "clusters").get(cluster, {}).get("cluster")
    if isinstance(about, dict) and about.get("server"):
        return str(about["server"])
    raise KubeconfigError(Fault(_CONTEXT, f"context {name!r} names no cluster with a server"))
