"""Asks the API server, as its administrator, with nothing but the standard library."""

import json
import ssl
import urllib.error
import urllib.request
from typing import Any

from toolchain.cluster.place import Place

_TIMEOUT_SECONDS = 10.0


class Unreachable(Exception):
    """No answer, or one that says the server is not ready."""


class Api:
    def __init__(self, place: Place) -> None:
        certificates = place.state / "certificates"
        self._server = place.server
        self._context = ssl.create_default_context(cafile=str(certificates / "ca.crt"))
        self._context.load_cert_chain(certificates / "admin.crt", certificates / "admin.key")

    def get(self, path: str) -> dict[str, Any] | None:
        """The object at `path`, None when there is none; raises Unreachable."""
        return self._ask("GET", path, None, missing=404)

    def create(self, path: str, item: dict[str, Any]) -> bool:
        """Creates `item` in the collection at `path`; False when it was there already. Raises
        Unreachable."""
        return self._ask("POST", path, item, missing=409) is not None

    def well(self, address: str) -> bool:
        """Whether a component's health address answers 200."""
        try:
            self._open(urllib.request.Request(address))
        except (OSError, ValueError):
            return False
        return True

    def _ask(
        self, method: str, path: str, body: dict[str, Any] | None, *, missing: int
    ) -> dict[str, Any] | None:
        request = urllib.request.Request(
            self._server + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            answer: dict[str, Any] = json.loads(self._open(request))
        except urllib.error.HTTPError as error:
            if error.code == missing:
                return None
            raise Unreachable(f"{method} {path}: {error.read().decode()[:500]}") from error
        except (OSError, ValueError) as error:
            raise Unreachable(f"{method} {path}: {error}") from error
        return answer

    def _open(self, request: urllib.request.Request) -> bytes:
        # Not through a proxy of the user's: all this is on this machine.
        direct = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._context)
        )
        with direct.open(request, timeout=_TIMEOUT_SECONDS) as response:
            content: bytes = response.read()
            return content
