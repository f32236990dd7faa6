"""What of a kind's errors reaches the user."""

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import struct_pb2

from provider import server
from provider.kinds import Call, Change, NotReady, Properties, ProviderError
from provider.protocol import engine, provider

URN = "urn:pulumi:dev::ack-training::a:Parent$acktraining:cluster:TrainingRun::m"


class Fails:
    """A kind all of whose operations raise `error`."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def identify(self, inputs: Properties) -> str:
        return "m"

    def refusals(self, call: Call) -> list[str]:
        raise self._error

    def compare(self, call: Call) -> Change:
        raise self._error

    def create(self, call: Call) -> Properties:
        raise self._error

    def read(self, call: Call) -> Properties | None:
        raise self._error

    def update(self, call: Call) -> Properties:
        raise self._error

    def delete(self, call: Call) -> None:
        raise self._error

    def introduction(self, call: Call) -> list[str]:
        return [f"there will be {call.inputs['name']}"]


class AbortedError(Exception):
    """What gRPC raises when a call is ended."""


class Context:
    """Of a gRPC call."""

    def __init__(self) -> None:
        self.said = ""

    def abort(self, code: object, message: str) -> None:
        self.said = message
        raise AbortedError

    def set_trailing_metadata(self, _: object) -> None:
        """Nobody reads it here."""


class Engine:
    """Notes what is logged."""

    def __init__(self) -> None:
        self.logged: list[tuple[int, str]] = []

    def Log(self, request: Any) -> None:
        self.logged.append((request.severity, request.message))


def serving(monkeypatch: pytest.MonkeyPatch, error: Exception) -> tuple[server.Provider, Engine]:
    monkeypatch.setattr(server, "kind_of", lambda _: Fails(error))
    serves, log = server.Provider(None), Engine()
    monkeypatch.setattr(serves, "_log", log)
    return serves, log


def broken() -> Exception:
    return KeyError("storage")


OPERATIONS: list[tuple[str, Callable[[], Any]]] = [
    ("Check", lambda: provider.CheckRequest(urn=URN)),
    ("Diff", lambda: provider.DiffRequest(urn=URN)),
    ("Create", lambda: provider.CreateRequest(urn=URN)),
    ("Read", lambda: provider.ReadRequest(urn=URN)),
    ("Update", lambda: provider.UpdateRequest(urn=URN)),
    ("Delete", lambda: provider.DeleteRequest(urn=URN)),
]


@pytest.mark.parametrize(("name", "request_of"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
def test_a_bug_is_one_sentence_and_its_traceback_is_for_debugging(
    monkeypatch: pytest.MonkeyPatch, name: str, request_of: Callable[[], Any]
) -> None:
    serves, log = serving(monkeypatch, broken())
    context = Context()
    with pytest.raises(AbortedError):
        getattr(serves, name)(request_of(), context)
    assert context.said == (
        "TrainingRun m: this is a bug of ack-training: KeyError: 'storage' "
        "(`pulumi preview --debug` shows where)"
    )
    ((severity, text),) = log.logged
    assert severity == engine.DEBUG
    assert text.startswith("Traceback")


@pytest.mark.parametrize("error", [ProviderError("it is so"), NotReady(["it is so"], {})])
def test_a_sentence_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    serves, log = serving(monkeypatch, error)
    context = Context()
    with pytest.raises(AbortedError):
        serves.Create(provider.CreateRequest(urn=URN), context)
    assert (context.said, log.logged) == ("it is so", [])


def test_what_is_new_is_told_in_the_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    serves, log = serving(monkeypatch, broken())
    properties = struct_pb2.Struct()
    properties.update({"name": "m"})
    request = provider.CreateRequest(urn=URN, properties=properties, preview=True)
    assert serves.Create(request, Context()).id == "m"
    assert log.logged == [(engine.INFO, "there will be m")]
