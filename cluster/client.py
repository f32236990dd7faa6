"""Requests to an API server, with errors that a user understands."""

from __future__ import annotations

import ipaddress
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from cluster.credentials import Credentials
from cluster.errors import ClusterError, UnauthorisedError
from cluster.kubeconfig import Target
from cluster.reasons import refused, unauthorised, unreachable
from cluster.tls import tls_context
from cluster.web_socket import Way, open_web_socket

CONNECT_SECONDS = 5.0
READ_SECONDS = 15.0
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_IMPORTING = threading.Lock()
_ANY = "application/json, */*"
_AT_ONCE = 256
"""Connections kept: every job of a stack is watched in a thread of its own."""

_T = TypeVar("_T")

Object = Mapping[str, Any]
"""An object of the Kubernetes API, as its JSON says."""


class Cluster:
    """A client of one API server; may be used by several threads at once."""

    def __init__(self, identify: Callable[[], tuple[Target, Credentials]]) -> None:
        self._identify = identify
        self._lock = threading.Lock()
        self._open()

    @property
    def name(self) -> str:
        """How messages call it: context and server."""
        return f"cluster {self._target.context} ({without_user(self._target.server)})"

    @property
    def server(self) -> str:
        """Its URL, as it may be shown."""
        return without_user(self._target.server)

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """The object, or list of objects, at `path`."""
        return self._json("GET", path, query)

    def get_as(self, path: str, accept: str, **query: str | int) -> dict[str, Any]:
        """As `get`, in a form that the API server offers beside its own."""
        return self._json("GET", path, query, accept=accept)

    def text(self, path: str, **query: str | int) -> str:
        """What `path` gives as text, such as a log."""
        return self._ask("GET", path, query).decode(errors="replace")

    def post(self, path: str, body: Object, **query: str | int) -> dict[str, Any]:
        return self._json("POST", path, query, body)

    def apply(self, path: str, body: Object, manager: str, **query: str | int) -> dict[str, Any]:
        """Server-side apply: afterwards `manager` owns the fields of `body`, whoever had them."""
        query = {"fieldManager": manager, "force": "true", **query}
        return self._json("PATCH", path, query, _as_yaml(body), "application/apply-patch+yaml")

    def merge(self, path: str, body: Object) -> dict[str, Any]:
        """Changes what `body` holds, where null takes away, and leaves all else."""
        return self._json("PATCH", path, {}, body, "application/merge-patch+json")

    def delete(self, path: str, options: Object | None = None) -> dict[str, Any]:
        return self._json("DELETE", path, {}, options or {})

    def stream(self, path: str, quiet_seconds: float, **query: str | int) -> Iterator[bytes]:
        """What `path` gives, in pieces as they come. Ends with it, or when none has come for
        `quiet_seconds`."""
        answer = self._renewing(lambda: self._begin("GET", path, query, seconds=quiet_seconds))
        try:
            yield from answer.response.stream()
        except Exception as error:
            if not type(error).__name__.startswith("ReadTimeout"):
                raise unreachable(self.name, self._proxy, error) from None
        finally:
            answer.response.close()

    def web_socket(self, path: str, protocol: str, **query: str | int) -> Any:
        """A web socket of `path`, open."""
        return self._renewing(lambda: open_web_socket(self._way, self._url(path, query), protocol))

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int],
        body: Object | str | None = None,
        kind: str = "application/json",
        accept: str = _ANY,
    ) -> dict[str, Any]:
        answer = self._ask(method, path, query, body, kind, accept)
        try:
            found = json.loads(answer)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ClusterError(f"{self.name} does not answer as a Kubernetes API server does")
        return found

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int],
        body: Object | str | None = None,
        kind: str = "application/json",
        accept: str = _ANY,
    ) -> bytes:
        def ask() -> bytes:
            return self._rest(self._begin(method, path, query, body, kind, accept))

        return self._renewing(ask)

    def _renewing(self, request: Callable[[], _T]) -> _T:
        try:
            return request()
        except UnauthorisedError:
            # A token that expired meanwhile, which a plugin or a file may have renewed.
            with self._lock:
                self._open()
            return request()

    def _begin(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int],
        body: Object | str | None = None,
        kind: str = "application/json",
        accept: str = _ANY,
        seconds: float = READ_SECONDS,
    ) -> Any:
        """The beginning of an answer that says yes."""
        headers = {**self._headers, "Accept": accept}
        if body is not None:
            headers["Content-Type"] = kind
        url, timeout = self._url(path, query), (CONNECT_SECONDS, seconds)
        try:
            answer = self._api.call_api(method, url, headers, body, _request_timeout=timeout)
        except Exception as error:
            raise unreachable(self.name, self._proxy, error) from None
        if 200 <= answer.status <= 299:
            return answer
        said = self._rest(answer)
        if answer.status == 401:
            raise unauthorised(self.name)
        raise refused(self.name, answer.status, said)

    def _rest(self, answer: Any) -> bytes:
        try:
            return answer.read() or b""
        except Exception as error:
            raise unreachable(self.name, self._proxy, error) from None

    def _url(self, path: str, query: Mapping[str, str | int]) -> str:
        return f"{self._target.server}{path}{'?' + urlencode(query) if query else ''}"

    def _open(self) -> None:
        # Here and not above: importing it takes half a second, and only a stack on a cluster pays.
        # One at a time: its modules load each other when they are first used, and two threads that
        # begin at different ends would each wait for the other.
        with _IMPORTING:
            from kubernetes.client import ApiClient, Configuration

        target, who = self._identify()
        settings = Configuration(
            host=target.server,
            retries=False,
            verify_ssl=not target.cluster.get("insecure-skip-tls-verify"),
            tls_server_name=target.cluster.get("tls-server-name"),
            connection_pool_maxsize=_AT_ONCE,
        )
        _set_proxy(settings, target)
        self._target, self._headers = target, dict(who.headers)
        self._proxy = settings.proxy
        try:
            api = ApiClient(settings)
        except Exception as error:
            raise ClusterError(
                f"{self.name}: proxy {without_user(settings.proxy or '')} {error}"
            ) from None
        self._headers["User-Agent"] = "ack-training"
        pools = api.rest_client.pool_manager
        if type(pools).__name__ == "PoolManager":
            # There is none, or NO_PROXY says that it is not for this server.
            self._proxy = None
        tls = tls_context(target, who) if target.server.startswith("https") else None
        if tls is not None:
            pools.connection_pool_kw["ssl_context"] = tls
        server_name = target.cluster.get("tls-server-name")
        self._way = Way(self.name, tls, server_name, self._proxy, self._headers)
        self._api = api


def _as_yaml(body: Object) -> str:
    """JSON as the API server's reader of YAML takes it: characters outside of Unicode's first plane
    are no pairs of escapes, and others that YAML does not show are escapes."""
    text = json.dumps(body, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def without_user(url: str) -> str:
    """The URL as it may be shown: what stands before an @ may be a password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _set_proxy(settings: Any, target: Target) -> None:
    """kubectl's rules: the cluster's own proxy-url, whatever NO_PROXY says; else that of the
    environment, which is never for this machine."""
    own = target.cluster.get("proxy-url")
    if own:
        settings.proxy, settings.no_proxy = str(own), None
    elif _is_this_machine(urlsplit(target.server).hostname or ""):
        settings.proxy = None


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
