"""Fetches a file by its URL, over proxies that the environment names, and checks what came."""

from __future__ import annotations

import hashlib
import http.client
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from workloads.volume.place import Refused

_CHUNK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 60
"""Longest time without a byte."""
_WAITS_SECONDS = (1, 3, 10)
_PASSING = (408, 425, 429, 500, 502, 503, 504)
"""Answers of HTTP that may be others a moment later."""


def shown_url(url: str) -> str:
    """The URL without its query, which may hold a signature."""
    return url.partition("?")[0]


def file_name(url: str) -> str:
    """The name that the file at `url` has on the volume."""
    name = urllib.parse.unquote(urllib.parse.urlsplit(url).path).rpartition("/")[2]
    return "data" if name in ("", ".", "..") or "\0" in name else name


def download(
    url: str, sha256: str, target: Path, wait: Callable[[float], None] = time.sleep
) -> None:
    """`target` holds the file afterwards, and its SHA-256 is that. Raises Refused."""
    for pause in (*_WAITS_SECONDS, None):
        try:
            digest = _fetch(url, target)
            break
        except _PassingError as error:
            if pause is None:
                raise Refused(f"{shown_url(url)} cannot be fetched: {error}") from None
        wait(pause)
    if digest != sha256:
        raise Refused(
            f"the file at {shown_url(url)} has the SHA-256 {digest}, not {sha256}: it is another "
            "file than the one that ack-training:datasets names"
        )


class _PassingError(Exception):
    """Why the file did not come this time."""


def _fetch(url: str, target: Path) -> str:
    digest = hashlib.sha256()
    with target.open("wb") as file:
        for chunk in _chunks(url):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _chunks(url: str) -> Iterator[bytes]:
    """What the server sends; raises _PassingError where another try may help, else Refused."""
    request = urllib.request.Request(url, headers={"User-Agent": "ack-training"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
            expected = answer.headers.get("Content-Length")
            length = 0
            while chunk := answer.read(_CHUNK_BYTES):
                length += len(chunk)
                yield chunk
            if expected is not None and length != int(expected):
                raise _PassingError(f"it ended after {length} of {expected} bytes")
    except urllib.error.HTTPError as error:
        answer_text = f"the server answers {error.code} {error.reason}"
        error.close()
        if error.code in _PASSING:
            raise _PassingError(answer_text) from None
        raise Refused(f"{shown_url(url)} cannot be fetched: {answer_text}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise Refused(f"{shown_url(url)} cannot be fetched: {reason}") from None
        raise _PassingError(str(reason) or type(reason).__name__) from None
