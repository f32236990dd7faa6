"""Which kinds of objects a namespace may hold, of Kubernetes and of all that was added to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from cluster.client import Cluster
from cluster.errors import RefusedError

AT_ONCE = 8
"""Requests side by side: there are dozens of kinds."""


@dataclass(frozen=True)
class Kind:
    """A kind of which a namespace's objects are at `{api}/namespaces/{namespace}/{plural}`."""

    api: str
    group: str
    plural: str

    @property
    def name(self) -> str:
        """As kubectl takes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


@dataclass(frozen=True)
class Kinds:
    """What can be listed, and the names of kinds, or of whole versions of an API, that cannot."""

    listed: Sequence[Kind]
    untold: Sequence[str]


def namespaced_kinds(cluster: Cluster) -> Kinds:
    """Every kind of which a namespace's objects go with it. UnreachableError, or RefusedError when
    it cannot be asked at all."""
    found: dict[str, Kind] = {}
    untold = []
    versions = [("/api/v1", ""), *_versions(cluster)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda version: _resources(cluster, version[0]), versions)
        for (api, group), resources in zip(versions, answers, strict=True):
            if resources is None:
                untold.append(api.removeprefix("/apis/"))
                continue
            for resource in resources:
                kind = Kind(api, group, str(resource["name"]))
                if not _goes_with_its_namespace(resource):
                    continue
                if "list" in resource["verbs"]:
                    # The same objects in an older version of their API are no others.
                    found.setdefault(kind.name, kind)
                else:
                    untold.append(kind.name)
    return Kinds([*found.values()], untold)


def _versions(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Of each group the preferred version first: an object may be in another alone."""
    for group in cluster.get("/apis").get("groups") or []:
        preferred = (group.get("preferredVersion") or {}).get("groupVersion")
        versions = [version["groupVersion"] for version in group["versions"]]
        for version in sorted(versions, key=lambda version: version != preferred):
            yield f"/apis/{version}", str(group["name"])


def _resources(cluster: Cluster, api: str) -> list[Mapping[str, Any]] | None:
    """None where the server that has them does not tell, as one that was added and is down."""
    try:
        return list(cluster.get(api).get("resources") or [])
    except RefusedError:
        return None


def _goes_with_its_namespace(resource: Mapping[str, Any]) -> bool:
    """What cannot be deleted is kept nowhere: figures of metrics.k8s.io, reviews of rights. The
    part after a slash is of an object that is listed."""
    return (
        bool(resource.get("namespaced"))
        and "/" not in resource["name"]
        and "delete" in (resource.get("verbs") or ())
    )
