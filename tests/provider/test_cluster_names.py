"""A stack that gets another name or another namespace, before and without a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.errors import ClusterError, UnreachableError
from provider.cluster import shared_object
from provider.cluster.connection import Connection
from provider.cluster.shared_object import SharedObject
from provider.kinds import Call, ProviderError

NOT_YET_KNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's word for a string that another resource will only have after `up`."""
INPUTS: dict[str, Any] = {
    "connection": {"content": NOT_YET_KNOWN},
    "namespace": "a",
    "owner": "o.p.s",
    "declares": [],
}
VOLUME = {"kind": "PersistentVolume", "path": "/p", "names": ["v"]}


def remembered(inputs: dict[str, Any], old_inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs as a Check completes them."""
    call = Call(inputs=inputs, old_inputs=old_inputs)
    return {**inputs, **Connection().remembered(call)}


def test_former_names_are_remembered_in_their_order_and_for_good() -> None:
    state = remembered(INPUTS, {})
    assert state["formerly"] == []
    for name, formerly in (
        ("o.p.t", ["o.p.s"]),
        ("o.p.t", ["o.p.s"]),
        ("o.p.s", ["o.p.s", "o.p.t"]),
    ):
        new = remembered({**INPUTS, "owner": name}, state)
        assert new["formerly"] == formerly
        # What is done with the completed inputs says the same.
        done = Connection().update(Call(inputs=new, old_inputs=state, outputs={}))
        assert done == {"formerly": formerly}
        state = new


@pytest.mark.parametrize(
    ("declares", "told"),
    [
        ([VOLUME], "where they go on from their checkpoints: the data stays where it is"),
        ([], "the data stays in the claim of a, and does not come along"),
    ],
)
def test_another_namespace_says_what_becomes_of_jobs_and_data(
    declares: list[dict[str, Any]], told: str
) -> None:
    new = {**INPUTS, "namespace": "b", "declares": declares}
    (note,) = Connection().compare(Call(inputs=new, old_inputs=INPUTS)).notes
    assert note.startswith("the jobs are ended in namespace a and made again in b")
    assert note.endswith(told)
    assert Connection().compare(Call(inputs=INPUTS, old_inputs=INPUTS)).notes == ()


def removed(monkeypatch: pytest.MonkeyPatch, answer: Any, outputs: dict[str, Any]) -> list[str]:
    """What is told when a namespace is left and `remove` answers so."""

    def remove(*_: object) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(shared_object, "opened", lambda _: None)
    monkeypatch.setattr(shared_object, "remove", remove)
    told: list[str] = []
    inputs = {"path": "/api/v1/namespaces/a", "owner": "o.p.s"}
    SharedObject().delete(Call(inputs=inputs, outputs=outputs, announce=told.append))
    return told


def test_what_is_kept_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert removed(monkeypatch, "Namespace a is kept: …", {}) == ["Namespace a is kept: …"]
    assert removed(monkeypatch, None, {}) == []
    # It was there before the stack: nothing is even looked at.
    assert removed(monkeypatch, ClusterError("asked"), {"before": True}) == []


def test_a_cluster_that_is_gone_is_forgotten_only_when_it_is_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert removed(monkeypatch, UnreachableError("away"), {}) == []
    for error in (ClusterError("no"), ProviderError("there is no context")):
        with pytest.raises(ProviderError):
            removed(monkeypatch, error, {})
        monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
        assert removed(monkeypatch, error, {}) == []
        monkeypatch.delenv("PULUMI_K8S_DELETE_UNREACHABLE")
