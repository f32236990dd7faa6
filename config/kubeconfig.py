"""Which cluster the config names, by the kubeconfig files of this machine. Nothing is contacted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from config.errors import Fault, nearest
from config.kubernetes import Kubernetes

_FILE = ("kubernetes", "kubeconfig")
_CONTEXT = ("kubernetes", "context")


class KubeconfigError(Exception):
    """The files do not name one cluster; `fault` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True)
class Cluster:
    """A context of a kubeconfig file. `file` is as the stack's file spells it where it does, so
    that two people's checkouts mean the same; `server` is the API server's URL."""

    file: str
    context: str
    server: str


def find_cluster(
    settings: Kubernetes, project: FilePath, environment: Mapping[str, str]
) -> Cluster:
    """The cluster that `settings` name. A current-context never decides.

    Raises KubeconfigError when a file is missing or unreadable, or no or another context is there.
    """
    found: list[str] = []
    for file in _files(settings, environment):
        path = project / FilePath(file).expanduser()
        if settings.kubeconfig is None and not path.exists():
            # As kubectl does with the files of KUBECONFIG.
            continue
        document = _read(path, file)
        contexts = {str(each.get("name")): each for each in _items(document, "contexts")}
        found += contexts
        _refuse_dangling(document, contexts, file)
        wanted = settings.context or _only(contexts, file)
        if wanted in contexts:
            return Cluster(file, wanted, _server(document, contexts[wanted], wanted))
    where = settings.kubeconfig or "KUBECONFIG or ~/.kube/config"
    wanted = str(settings.context)
    close = nearest(wanted, found)
    names = f"there are {', '.join(sorted(found))}" if found else "there is none"
    raise KubeconfigError(
        Fault(
            _CONTEXT,
            f"there is no context {wanted!r} in {where}",
            advice=f"did you mean {close}?" if close else names,
        )
    )


def _refuse_dangling(document: Mapping[str, Any], contexts: Mapping[str, Any], file: str) -> None:
    """Pulumi's provider takes a file whose current-context is not in it for none, whichever other
    context it is told."""
    current = document.get("current-context")
    if current and current not in contexts:
        raise KubeconfigError(
            Fault(
                _FILE,
                f"{file!r} has the current-context {current!r}, which is not in it",
                advice="set one with kubectl config use-context",
            )
        )


def _files(settings: Kubernetes, environment: Mapping[str, str]) -> list[str]:
    if settings.kubeconfig is not None:
        return [settings.kubeconfig]
    given = [file for file in environment.get("KUBECONFIG", "").split(os.pathsep) if file]
    return given or ["~/.kube/config"]


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
    if not isinstance(document, dict) or not _items(document, "contexts"):
        raise KubeconfigError(Fault(_FILE, f"{file!r} is no kubeconfig: it has no contexts"))
    return document


def _items(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    items = document.get(key)
    return [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []


def _only(contexts: Mapping[str, Any], file: str) -> str:
    if len(contexts) == 1:
        return next(iter(contexts))
    names = ", ".join(sorted(contexts))
    raise KubeconfigError(Fault(_CONTEXT, f"is missing: {file!r} has several; name one of {names}"))


def _server(document: Mapping[str, Any], context: Mapping[str, Any], name: str) -> str:
    inner = context.get("context")
    cluster = inner.get("cluster") if isinstance(inner, dict) else None
    for each in _items(document, "clusters"):
        about = each.get("cluster")
        if each.get("name") == cluster and isinstance(about, dict) and about.get("server"):
            return str(about["server"])
    raise KubeconfigError(Fault(_CONTEXT, f"context {name!r} names no cluster with a server"))
