"""What a namespace, or the definition of a kind, holds: all that would be deleted with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from cluster.client import Cluster
from cluster.discovery import AT_ONCE, Kind, namespaced_kinds
from cluster.errors import RefusedError
from cluster.lookup import list_metadata

PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.5

_OF_EVERY_NAMESPACE = {
    "configmaps": "kube-root-ca.crt",
    "serviceaccounts": "default",
}
_TOLD_OF_OTHERS = ("events", "events.events.k8s.io")

_DERIVED = ("endpoints",)
"""Of a Service, which they name by having its name alone."""


@dataclass(frozen=True)
class _Held:
    """In words. `passing`: it is about to go by itself, as what it belongs to is gone."""

    words: str
    passing: bool = False


def held_in_namespace(cluster: Cluster, name: str) -> str:
    """What the namespace holds, in words, or what of it cannot be told; empty when it holds
    nothing but what Kubernetes puts into each. What goes by itself is waited for."""
    try:
        kinds = namespaced_kinds(cluster)
    except RefusedError as error:
        return _untold("what it holds", error)
    if kinds.untold:
        return f"whether it holds objects of {kinds.untold[0]} cannot be told"

    def look() -> Iterator[_Held]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for found in pool.map(lambda kind: _held(cluster, kind, name), kinds.listed):
                yield from found

    return _lasting(look)


def held_by_definition(cluster: Cluster, definition: Mapping[str, Any]) -> str:
    """As `held_in_namespace`, of the objects of a CustomResourceDefinition in all namespaces."""
    spec = definition.get("spec") or {}
    plural, group = spec["names"]["plural"], spec["group"]
    served = [version["name"] for version in spec.get("versions") or [] if version.get("served")]
    if not served:
        return f"whether there are {plural} cannot be told: no version of them is served"

    def look() -> Iterator[_Held]:
        try:
            found = list_metadata(cluster, f"/apis/{group}/{served[0]}/{plural}")
        except RefusedError as error:
            yield _Held(_untold(f"whether there are {plural}", error))
            return
        for metadata in found:
            yield _Held(f"it holds {plural} of {metadata.get('namespace')}", _goes(metadata))

    return _lasting(look)


def _lasting(look: Callable[[], Iterator[_Held]]) -> str:
    """The first of what `look` finds that does not go by itself in time; empty for none."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while True:
        found: Sequence[_Held] = sorted(look(), key=lambda held: held.passing)
        if not found:
            return ""
        if not found[0].passing or time.monotonic() > limit:
            return found[0].words
        time.sleep(_POLL_SECONDS)


def _held(cluster: Cluster, kind: Kind, namespace: str) -> list[_Held]:
    if kind.name in _TOLD_OF_OTHERS:
        return []
    try:
        found = list_metadata(cluster, f"{kind.api}/namespaces/{namespace}/{kind.plural}")
    except RefusedError as error:
        return [_Held(_untold(f"whether it holds {kind.name}", error))]
    return [
        _Held(
            f"it holds {kind.name} {metadata['name']}",
            kind.name in _DERIVED or _goes(metadata),
        )
        for metadata in found
        if metadata["name"] != _OF_EVERY_NAMESPACE.get(kind.name)
    ]


def _goes(metadata: Mapping[str, Any]) -> bool:
    # What belongs to another object goes after that one; while that is there, it is found too.
    return bool(metadata.get("deletionTimestamp") or metadata.get("ownerReferences"))


def _untold(what: str, error: RefusedError) -> str:
    return f"{what} cannot be told: {error}"
