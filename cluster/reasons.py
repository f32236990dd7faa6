"""Why a request failed, from what the HTTP library and the API server say: one sentence each."""

from __future__ import annotations

import json
import re
import socket
import ssl
from urllib.parse import urlsplit

from cluster.errors import RefusedError, UnauthorisedError, UnreachableError

_CAUSES_DEEP = 8
"""How far the HTTP library nests what went wrong, with room."""


def unreachable(name: str, proxy: str | None, error: BaseException) -> UnreachableError:
    """The error for a request that got no answer. `proxy` is the one that it went through."""
    through = ""
    if proxy and "Proxy" in _names(error):
        through = f" through the proxy {urlsplit(proxy).hostname}"
    return UnreachableError(f"{name} cannot be reached{through}: {_why(error)}")


def unauthorised(name: str) -> UnauthorisedError:
    return UnauthorisedError(
        f"{name} does not accept the credentials of the kubeconfig (401): they have expired or "
        "are another cluster's"
    )


def refused(name: str, status: int, body: bytes) -> RefusedError:
    """The error for an answer that says no."""
    reason, message = "", ""
    try:
        found = json.loads(body)
        reason, message = str(found.get("reason") or ""), str(found.get("message") or "")
    except (ValueError, AttributeError):
        # Not of an API server: of a proxy or a load balancer before it.
        message = f"HTTP status {status}"
    return RefusedError(f"{name}: {message or f'HTTP status {status}'}", status, reason)


def _why(error: BaseException) -> str:
    chain = _chain(error)
    text = " ".join(str(part) for part in chain)
    for part in chain:
        if isinstance(part, ConnectionRefusedError):
            return "connection refused: nothing listens there"
        if isinstance(part, socket.gaierror):
            return "its host name is unknown"
        if isinstance(part, ssl.SSLCertVerificationError):
            # What the TLS library fills in is not there in one that something else raised.
            return _certificate(str(getattr(part, "verify_message", "") or part))
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return _certificate(text)
    if "timed out" in text or any("Timeout" in type(part).__name__ for part in chain):
        return "timed out"
    if "WRONG_VERSION_NUMBER" in text or "HTTP_REQUEST" in text:
        return "it does not speak TLS: is the server's URL http and not https?"
    if "SSL" in _names(error) or "SSLError" in text:
        # The first thing in brackets is the TLS library's own word.
        word = re.search(r"\[SSL: ([A-Z0-9_]+)\]", text)
        return f"TLS failed{f' ({word[1]})' if word else ''}"
    for part in chain:
        if isinstance(part, OSError) and part.strerror:
            return part.strerror.lower()
    if "Remote end closed" in text or "RemoteDisconnected" in _names(error):
        return "it closed the connection"
    return re.sub(r"<[^>]*object at 0x[0-9a-f]+>:? ?", "", str(error))[:200]


def _certificate(text: str) -> str:
    said = re.search(r"certificate verify failed: ([^(]+)", text)
    what = (said[1] if said else text).strip().rstrip(".")
    return f"its TLS certificate is not trusted: {what[:200]}"


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    part: object = error
    while isinstance(part, BaseException) and part not in found and len(found) < _CAUSES_DEEP:
        found.append(part)
        nested = getattr(part, "reason", None) or getattr(part, "original_error", None)
        arguments = [a for a in part.args if isinstance(a, BaseException)]
        if not isinstance(nested, BaseException):
            nested = arguments[-1] if arguments else part.__cause__ or part.__context__
        part = nested
    return found


def _names(error: BaseException) -> str:
    return " ".join(type(part).__name__ for part in _chain(error))
