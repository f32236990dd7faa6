"""The cluster that a resource's inputs name, as the provider's process has it."""

import os
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from cluster.client import Cluster
from cluster.connection import Connection
from cluster.errors import ClusterError
from cluster.identity import Identity, identify
from provider import place
from provider.kinds import Properties, ProviderError

_UNKNOWN = frozenset(
    {
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""What the engine sends in a preview for a string, boolean, number, list or object that another
resource will only have after `up`."""

GONE_FOR_GOOD = "PULUMI_K8S_DELETE_UNREACHABLE"
"""The very variable that lets pulumi-kubernetes forget what a cluster held that is gone."""


def is_gone_for_good() -> bool:
    """Whether the user has said that the cluster is, so that there is nothing to ask it; in the one
    spelling that pulumi-kubernetes heeds."""
    return os.environ.get(GONE_FOR_GOOD) == "true"


def opened(inputs: Properties) -> Cluster:
    """The cluster of `inputs`; one client for all resources of it. ProviderError when its
    kubeconfig, or what that asks for, is not to be had."""
    try:
        return _open(Connection.of(inputs.get("connection") or {}, place.PROJECT))
    except ClusterError as error:
        raise ProviderError(str(error)) from error


def identified(inputs: Properties) -> Identity:
    """Which cluster that is. It is asked once in the life of a process, which is that of one
    command; errors are those of `opened` and `identify`."""
    return _identify(opened(inputs))


def is_known(inputs: Properties) -> bool:
    """False in the preview of a stack whose cluster is yet to be made."""
    return not holds_unknown(inputs.get("connection"))


def holds_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(holds_unknown, value.values()))
    if isinstance(value, list):
        return any(map(holds_unknown, value))
    return isinstance(value, str) and value in _UNKNOWN


@cache
def _open(connection: Connection) -> Cluster:
    return connection.open()


@cache
def _identify(cluster: Cluster) -> Identity:
    return MappingProxyType(identify(cluster))
