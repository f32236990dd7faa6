"""Looks for what may not be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cluster.client import Cluster
from cluster.errors import RefusedError

_PARTIAL = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1, application/json"
_PAGE = 500
_T = TypeVar("_T")


def find(cluster: Cluster, path: str, **query: str | int) -> dict[str, Any] | None:
    """The object, or list of objects, at `path`; None when there is none. ClusterError when it
    cannot be asked."""
    return _if_there(lambda: cluster.get(path, **query))


def find_metadata(cluster: Cluster, path: str) -> Mapping[str, Any] | None:
    """The metadata of the object at `path`, which may itself be large; None when there is none."""
    found = _if_there(lambda: cluster.get_as(path, _PARTIAL.format("")))
    return None if found is None else found["metadata"]


def list_metadata(cluster: Cluster, path: str) -> list[Mapping[str, Any]]:
    """The metadata of each object of the list at `path`. ClusterError when there is no such
    list."""
    found: list[Mapping[str, Any]] = []
    more: dict[str, str] = {}
    while True:
        page = cluster.get_as(path, _PARTIAL.format("List"), limit=_PAGE, **more)
        found += (item["metadata"] for item in page.get("items") or [])
        token = (page.get("metadata") or {}).get("continue")
        if not token:
            return found
        more = {"continue": token}


def _if_there(ask: Callable[[], _T]) -> _T | None:
    try:
        return ask()
    except RefusedError as error:
        if error.not_found:
            return None
        raise
