"""What our provider refuses when it is configured for a stack on a cluster: before a refresh or a
destroy looks at anything, so that nothing is taken for gone which is elsewhere."""

import os
import socket
from urllib.parse import urlsplit

from cluster.connection import Connection
from cluster.errors import ClusterError, UnreachableError
from cluster.kubeconfig import Target
from provider import place
from provider.cluster.link import other_cluster, recorded
from provider.cluster.opened import (
    GONE_FOR_GOOD,
    holds_unknown,
    identified,
    is_gone_for_good,
)
from provider.kinds import Properties, ProviderError

_KNOCK_SECONDS = 5.0
_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY")


def refuse_unpinned(given: Properties) -> None:
    """ProviderError when the cluster of `given`, the settings and what is recorded of them, is not
    to be had, or is another one. Where the URL is the recorded one and somebody answers there,
    which is nearly always, no request is made: each preview comes along here."""
    link = recorded(given, given)
    if not link or holds_unknown(given) or is_gone_for_good():
        return
    try:
        target = Connection.of(link["connection"], place.PROJECT).target()
        refusal = None
        if target.server != link["server"]:
            refusal = other_cluster(link)
        elif not _answers(target):
            # What a real request comes to.
            identified(link)
    except UnreachableError as error:
        refusal = (
            f"{error}. If the cluster is gone for good, `{GONE_FOR_GOOD}=true pulumi destroy` "
            "forgets what was on it"
        )
    except ClusterError as error:
        refusal = str(error)
    if refusal is not None:
        # On a line of its own, as the engine puts the names of resource and provider before it.
        raise ProviderError(f"\nNothing was deleted or forgotten: {refusal}")


def _answers(target: Target) -> bool:
    """Whether somebody is at the address. Unknown, and taken for so, where a proxy is between."""
    if target.cluster.get("proxy-url") or any(os.environ.get(name) for name in _PROXIES):
        return True
    url = urlsplit(target.server)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        socket.create_connection((url.hostname or "", port), _KNOCK_SECONDS).close()
    except OSError:
        return False
    return True
