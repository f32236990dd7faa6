"""Opens a web socket to an API server, which is how bytes travel to and from a pod."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from cluster.reasons import refused, unauthorised, unreachable

_OPEN_SECONDS = 20.0
"""A proxy, the API server and the kubelet have to agree."""


@dataclass(frozen=True)
class Way:
    """How a server is reached. `name` is how messages call it; `proxy` is None where there is none
    in between."""

    name: str
    tls: ssl.SSLContext | None
    server_name: str | None
    proxy: str | None
    headers: Mapping[str, str] = field(repr=False)


def open_web_socket(way: Way, url: str, protocol: str) -> Any:
    """A connected `websocket.WebSocket` for `url`, an http or https one, that speaks `protocol`."""
    # Here and not above: only who forwards a port needs it.
    from websocket import WebSocket, WebSocketBadStatusException

    options: dict[str, Any] = {"context": way.tls} if way.tls is not None else {}
    if way.server_name:
        options["server_hostname"] = way.server_name
    socket: Any = WebSocket(sslopt=options)
    socket.settimeout(_OPEN_SECONDS)
    try:
        socket.connect(
            "ws" + url.removeprefix("http"),
            header=dict(way.headers),
            subprotocols=[protocol],
            **_through(way.proxy),
        )
    except WebSocketBadStatusException as error:
        if error.status_code == 401:
            raise unauthorised(way.name) from None
        raise refused(way.name, error.status_code, error.resp_body or b"") from None
    except Exception as error:
        raise unreachable(way.name, way.proxy, error) from None
    return socket


def _through(proxy: str | None) -> dict[str, Any]:
    if proxy is None:
        # Not even one that the environment names.
        return {"http_no_proxy": ["*"]}
    parts = urlsplit(proxy)
    secure = parts.scheme == "https"
    found: dict[str, Any] = {
        "http_proxy_host": parts.hostname,
        "http_proxy_port": parts.port or (443 if secure else 80),
        "proxy_type": "http" if parts.scheme in ("http", "https") else parts.scheme,
        # One that is never a host's name: an empty list would mean the environment's.
        "http_no_proxy": ["-"],
    }
    if parts.username:
        found["http_proxy_auth"] = (unquote(parts.username), unquote(parts.password or ""))
    return found
