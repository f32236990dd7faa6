"""Which version is served now: polls the base directory, loads aside, then switches."""

from __future__ import annotations

import gc
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from workloads.model_server import loader, versions
from workloads.model_server.loader import ModelBroken, ServedModel


@dataclass(frozen=True)
class VersionState:
    """One entry of the status answer; ``state`` is START, LOADING, AVAILABLE, UNLOADING or END."""

    state: str
    code: str = "OK"
    message: str = ""


_ENDED = VersionState("END")


class Lifecycle:
    """The served version of one model and the state of every version seen.

    Readers take ``current()`` once per request and keep what it returned: a version that is
    replaced meanwhile lives until its last request is answered.
    """

    def __init__(self, name: str, base: Path, poll_seconds: int) -> None:
        self.name = name
        self._base = base
        self._poll_seconds = poll_seconds
        self._lock = threading.Lock()
        self._current: ServedModel | None = None
        self._states: dict[int, VersionState] = {}
        self._broken: dict[int, versions.Fingerprint] = {}
        self._trouble = ""

    def current(self) -> ServedModel | None:
        """The version that answers requests without a version, None before the first."""
        with self._lock:
            return self._current

    def states(self) -> dict[int, VersionState]:
        """The state of every version seen, newest first."""
        with self._lock:
            return dict(sorted(self._states.items(), reverse=True))

    def summary(self) -> str:
        """The state in a few words, for a person."""
        with self._lock:
            if self._current is not None:
                return f"serving version {self._current.version}"
            for number, state in sorted(self._states.items(), reverse=True):
                if state.state == "LOADING":
                    return f"loading version {number}"
                if state.code != "OK":
                    return f"version {number} does not load: {state.message}"
            if self._trouble:
                return self._trouble
            return f"waiting for {'the next' if self._states else 'first'} export"

    def run(self) -> None:
        """Poll for ever; once only when the poll interval is 0. Raises ImportError at once when
        TensorFlow is missing."""
        # Before the import, so that the status says "loading" while TensorFlow is imported.
        self._announce_first()
        loader.prepare()
        while True:
            self.poll()
            if self._poll_seconds == 0:
                return
            time.sleep(self._poll_seconds)

    def poll(self) -> None:
        """Look once, and load and switch to a newer version when there is one.

        Whatever goes wrong is told and no more: the next look may go well, and without it the
        server would answer with an old version for ever.
        """
        trouble = ""
        try:
            self._look()
        except OSError as error:
            trouble = f"{self._base} cannot be read: {error.strerror or error}"
        except Exception as error:
            trouble = f"looking into {self._base} failed: {type(error).__name__}: {error}"
        self._note_trouble(trouble)

    def _look(self) -> None:
        offered = versions.scan(self._base)
        self._forget_removed({version.number for version in offered})
        if not offered and versions.none_left(self._base):
            self._unload()
        # Each turn settles one version, so a broken newest one gives way to an older at once.
        for _ in offered:
            current = self.current()
            serving = current.version if current else None
            chosen = versions.next_to_load(offered, serving, self._broken)
            if chosen is None or self._switch_to(chosen):
                return

    def _switch_to(self, chosen: versions.VersionDirectory) -> bool:
        number = chosen.number
        # Taken before the load: a file that arrives during a failing load must count as a change.
        before = versions.fingerprint(chosen.path)
        with self._lock:
            self._states[number] = VersionState("LOADING")
        started = time.monotonic()
        try:
            model = loader.load(chosen.path, self.name, number)
        except Exception as error:
            # Not ModelBroken alone: no version may keep the others from being looked at.
            failed = _failed(error)
            self._broken[number] = before
            with self._lock:
                self._states[number] = failed
            _log(f"{self.name} version {number} does not load: {failed.message}")
            return False
        cold = loader.warm_up(model)
        if cold:
            _log(f"{self.name} version {number} is served without having been warmed up: {cold}")
        self._broken.pop(number, None)
        with self._lock:
            replaced, self._current = self._current, model
            self._states[number] = VersionState("AVAILABLE")
            if replaced is not None:
                self._states[replaced.version] = _ENDED
        _log(f"{self.name} version {number} loaded in {time.monotonic() - started:.1f} s")
        del replaced, model
        # TensorFlow's functions sit in reference cycles; without this two models stay in memory.
        gc.collect()
        return True

    def _unload(self) -> None:
        with self._lock:
            gone, self._current = self._current, None
            if gone is None:
                return
            self._states[gone.version] = _ENDED
        _log(f"{self.name} version {gone.version} unloaded: {self._base} has no version any more")
        del gone
        gc.collect()

    def _announce_first(self) -> None:
        try:
            offered = versions.scan(self._base)
        except OSError:
            return
        if offered:
            with self._lock:
                self._states[offered[0].number] = VersionState("LOADING")

    def _forget_removed(self, present: set[int]) -> None:
        with self._lock:
            kept = present | ({self._current.version} if self._current else set())
            # What was served once stays in the status as ended, as with the real server.
            kept |= {number for number, state in self._states.items() if state == _ENDED}
            for number in [number for number in self._states if number not in kept]:
                del self._states[number]
        for number in [number for number in self._broken if number not in present]:
            del self._broken[number]

    def _note_trouble(self, reason: str) -> None:
        if reason and reason != self._trouble:
            _log(reason)
        with self._lock:
            self._trouble = reason


def _failed(error: Exception) -> VersionState:
    if isinstance(error, ModelBroken):
        return VersionState("END", error.code, error.message)
    return VersionState("END", "UNKNOWN", f"{type(error).__name__}: {error}")


def _log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
