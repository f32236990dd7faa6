"""Hides secret values in a stream of bytes, wherever the stream is cut."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

SHOWN = b"[secret]"
SHORTEST = 4
LONGEST_LINE = 64 * 1024
_CERTAIN = 8
"""Characters of a value's base64 inside a longer one that are no coincidence."""


def forms(values: Iterable[str]) -> tuple[bytes, ...]:
    """The byte strings to hide: each value of 4 or more characters and its base64.

    A value of several lines counts line by line, as output is written by lines; a value is also
    hidden in the form it has inside a JSON string, inside a URL, and inside the base64 of a longer
    text, such as that of a name and a password.
    """
    found: set[bytes] = set()
    for value in values:
        if len(value) < SHORTEST:
            continue
        raw = value.encode("utf-8", "surrogateescape")
        for encoded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
            found |= {encoded, encoded.rstrip(b"=")}
        found |= {part for part in _inside_base64(raw) if len(part) >= _CERTAIN}
        found |= {line.strip(b"\r") for line in raw.split(b"\n")}
        found |= {
            json.dumps(line, ensure_ascii=flag)[1:-1].encode("utf-8", "surrogateescape")
            for line in value.split("\n")
            for flag in (True, False)
        }
        found |= {
            escaped.encode()
            for line in raw.split(b"\n")
            for escaped in (quote(line), quote(line, safe=""), quote_plus(line))
        }
    return tuple(sorted(form for form in found if len(form) >= SHORTEST))


def _inside_base64(raw: bytes) -> Iterator[bytes]:
    """What of the base64 of a longer text depends on `raw` alone, wherever `raw` begins in it."""
    for before in range(3):
        # Three bytes are four characters: the ends share theirs with what stands beside them.
        whole = raw[(3 - before) % 3 :]
        whole = whole[: len(whole) - len(whole) % 3]
        yield base64.b64encode(whole)
        yield base64.urlsafe_b64encode(whole)


def mask(text: bytes, secrets: tuple[bytes, ...]) -> bytes:
    """The text with every occurrence of a secret, also overlapping ones, shown as [secret]."""
    return _mask(text, _places(text, secrets))


class LineMasker:
    """Cuts one stream into masked lines.

    A line is given out when it is complete, when nothing came for a while (`idle`), at the end
    (`close`), or in parts of at least 64 KiB when it is longer, each ended as a line. A cut in
    the middle of a line keeps back bytes that may be the beginning of a secret.
    """

    def __init__(self, secrets: tuple[bytes, ...]) -> None:
        self._secrets = secrets
        self._longest = max(map(len, secrets), default=0)
        self._rest = b""

    @property
    def pending(self) -> bool:
        """Whether an incomplete line is kept."""
        return bool(self._rest)

    def feed(self, chunk: bytes) -> bytes:
        """Takes bytes, gives masked ones."""
        head, newline, tail = (self._rest + chunk).rpartition(b"\n")
        shown = mask(head + newline, self._secrets)
        self._rest = tail
        if len(tail) >= LONGEST_LINE:
            shown += self.idle() + b"\n"
        return shown

    def idle(self) -> bytes:
        """The incomplete line as far as it can be shown."""
        places = _places(self._rest, self._secrets)
        cut = len(self._rest) - self._beginning_of_secret()
        # A secret that is complete is hidden as a whole, though its end may begin another.
        cut = max([cut, *(end for begin, end in places if begin < cut)])
        shown, self._rest = self._rest[:cut], self._rest[cut:]
        return _mask(shown, [place for place in places if place[0] < cut])

    def close(self) -> bytes:
        """All that is left, ended as a line."""
        rest, self._rest = self._rest, b""
        return mask(rest, self._secrets) + b"\n" if rest else b""

    def _beginning_of_secret(self) -> int:
        """The length of the longest end of the kept bytes with which a secret could begin."""
        for length in range(min(self._longest - 1, len(self._rest)), 0, -1):
            end = self._rest[-length:]
            if any(len(secret) > length and secret.startswith(end) for secret in self._secrets):
                return length
        return 0


def _places(text: bytes, secrets: tuple[bytes, ...]) -> list[tuple[int, int]]:
    """Where secrets are, in order, touching places joined."""
    places: list[tuple[int, int]] = []
    for secret in secrets:
        at = text.find(secret)
        while at >= 0:
            places.append((at, at + len(secret)))
            at = text.find(secret, at + 1)
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if joined and begin < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def _mask(text: bytes, places: list[tuple[int, int]]) -> bytes:
    if not places:
        return text
    parts, at = [], 0
    for begin, end in places:
        parts += [text[at:begin], SHOWN]
        at = end
    return b"".join([*parts, text[at:]])
