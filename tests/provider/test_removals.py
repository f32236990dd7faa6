"""A job that is taken out of the stack's file is told of in the preview."""

from collections.abc import Iterator
from typing import Any

import pytest

from cluster.errors import UnreachableError
from provider.cluster import removals as module
from provider.cluster.removals import removals
from provider.kinds import Call, Properties
from tests.provider.test_cluster_kinds import FakeCluster, tfjob

LEFT = "; its checkpoints, logs and exports stay"


def declaring(*jobs: str, namespace: str = "training") -> dict[str, Any]:
    declares = [{"kind": "TFJob", "names": list(jobs)}] if jobs else []
    return {
        "connection": {"context": "dev"},
        "namespace": namespace,
        "declares": [{"kind": "ConfigMap", "names": ["m-code"]}, *declares],
    }


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    found = FakeCluster(m=tfjob("Running"), done=tfjob("Succeeded"))
    monkeypatch.setattr(module, "opened", lambda _: found)
    yield found


def said(old: Properties, new: Properties) -> tuple[str, ...]:
    return removals(Call(inputs=new, old_inputs=old))


def test_what_runs_is_told_with_its_step() -> None:
    assert said(declaring("m", "n"), declaring("n")) == (
        "job m is removed: it is Running (step 1200 of 2000 was reached), and its TFJob is "
        f"deleted{LEFT}",
    )


def test_what_has_ended_is_told_as_such() -> None:
    gone = ("done", "gone")
    assert said(declaring(*gone, "m"), declaring("m")) == tuple(
        f"job {name} is removed: its TFJob is deleted{LEFT}" for name in gone
    )


def test_what_stays_or_comes_is_no_removal() -> None:
    assert said(declaring("m"), declaring("m", "n")) == ()
    assert said({}, declaring("m")) == ()


def test_of_a_namespace_that_is_left_another_sentence_tells() -> None:
    assert said(declaring("m"), declaring("n", namespace="elsewhere")) == ()


def test_a_cluster_that_is_away_fails_no_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: Properties) -> None:
        raise UnreachableError("away")

    monkeypatch.setattr(module, "opened", away)
    assert said(declaring("m"), declaring()) == (f"job m is removed: its TFJob is deleted{LEFT}",)
