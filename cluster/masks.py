"""Hides what the secret variables of replicas hold, in all that is told of them.

A cluster keeps what a replica writes as it was written. On this machine the supervisor hides it
before it reaches a file.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterable, Iterator, Mapping

from cluster.client import Cluster
from cluster.errors import ClusterError, RefusedError
from cluster.seen import PodSeen
from supervisor.masking import forms, mask
from supervisor.printable import plain

Values = Mapping[str, str]
"""What a Secret holds, by key."""


class Masks:
    """Of the replicas of one namespace. Each Secret that their pods name is read once, when there
    is something to be told of them; for a Secret that cannot be read, see `unread`."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._values: dict[str, Values | None] = {}
        self._forms: dict[tuple[tuple[str, str], ...], tuple[bytes, ...]] = {}
        self._lock = threading.Lock()

    def hide(self, text: str, pods: Iterable[PodSeen]) -> str:
        """The text, which these pods or their nodes may have written, without their secrets."""
        hidden = sorted({form for pod in pods for form in self._of(pod)})
        return mask(text.encode(errors="replace"), tuple(hidden)).decode() if hidden else text

    def plain(self, text: str, pods: Iterable[PodSeen]) -> str:
        """The same, for what is kept: also without what a terminal would obey."""
        # First that, as a secret with such a thing between its characters would not be found.
        return self.hide(plain(text), pods)

    def unread(self, pods: Iterable[PodSeen]) -> list[str]:
        """The Secrets of these pods that cannot be read, so that what they hold is not hidden."""
        names = sorted({name for pod in pods for name, _ in pod.secrets})
        return [name for name in names if self._read(name) is None]

    def _of(self, pod: PodSeen) -> tuple[bytes, ...]:
        if pod.secrets in self._forms:
            return self._forms[pod.secrets]
        read = {name: self._read(name) for name, _ in pod.secrets}
        found = forms(_named(pod, read))
        if None not in read.values():
            self._forms[pod.secrets] = found
        return found

    def _read(self, name: str) -> Values | None:
        with self._lock:
            if name not in self._values:
                try:
                    self._values[name] = self._ask(name)
                except RefusedError:
                    self._values[name] = None
                except ClusterError:
                    # The next time it may answer.
                    return None
            return self._values[name]

    def _ask(self, name: str) -> Values:
        found = self._cluster.get(f"/api/v1/namespaces/{self._namespace}/secrets/{name}")
        return {
            key: base64.b64decode(value).decode("utf-8", "surrogateescape")
            for key, value in (found.get("data") or {}).items()
        }


def _named(pod: PodSeen, read: Mapping[str, Values | None]) -> Iterator[str]:
    for name, key in pod.secrets:
        values = read[name] or {}
        yield from [values[key]] if key in values else [] if key else values.values()
