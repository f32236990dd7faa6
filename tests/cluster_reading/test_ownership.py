"""A stack touches only what is its own, and leaves nothing empty behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cluster.errors import RefusedError
from cluster.ownership import LABEL, foreign

OWN = "organization.ack-training.dev"
NAMESPACE = "/api/v1/namespaces/training"
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tfjobs.kubeflow.org"
NAMES = [f"j{number}" for number in range(50)]


def found(name: str, owner: str | None = OWN, kind: str = "Namespace") -> dict[str, Any]:
    labels = {} if owner is None else {LABEL: owner}
    metadata = {"name": name, "labels": labels, "uid": f"uid-{name}", "resourceVersion": "7"}
    return {"kind": kind, "metadata": metadata}


class Api:
    """What an API server answers, from a mapping of its paths."""

    name = "cluster test (https://test)"

    def __init__(self, objects: Mapping[str, dict[str, Any]]) -> None:
        self.objects = dict(objects)
        self.deleted: list[tuple[str, Any]] = []

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        if path not in self.objects:
            raise RefusedError("not found", 404, "NotFound")
        return self.objects[path]

    def get_as(self, path: str, accept: str, **query: str | int) -> dict[str, Any]:
        return self.get(path, **query)

    def delete(self, path: str, options: Any = None) -> dict[str, Any]:
        self.deleted.append((path, options))
        del self.objects[path]
        return {}


def jobs(*names: str) -> dict[str, Any]:
    return {"path": "/tfjobs", "names": list(names), "kind": "TFJob", "hint": "rename it"}


@pytest.mark.parametrize("owner", [None, "organization.ack-training.prod"])
def test_an_object_of_another_is_refused_by_name(owner: str | None) -> None:
    api: Any = Api({"/tfjobs/m": found("m", owner)})
    said = foreign(api, OWN, {OWN}, [jobs("m")])
    of = "no ack-training stack" if owner is None else f"stack {owner}"
    assert said == (
        f"cluster test (https://test) has TFJob m already, and it is of {of}: rename it"
    )


def test_what_is_absent_or_ones_own_is_accepted() -> None:
    api: Any = Api({"/tfjobs/m": found("m")})
    assert foreign(api, OWN, {OWN}, [jobs("m", "n")]) is None


def test_what_a_stack_made_under_its_old_name_is_its_own() -> None:
    api: Any = Api({"/tfjobs/m": found("m", "organization.ack-training.old")})
    assert foreign(api, OWN, {OWN, "organization.ack-training.old"}, [jobs("m")]) is None


def test_a_state_that_recorded_nothing_owns_nothing_that_lives() -> None:
    """Two people with a backend of their own each, and the same name for their stacks."""
    api: Any = Api({"/tfjobs/m": found("m"), NAMESPACE: found("training")})
    said = foreign(api, OWN, set(), [jobs("m")])
    assert f"it is of stack {OWN} in another backend: rename it" in str(said)
    # What a destroy left, as it holds the claim with the data.
    group = {"path": "/api/v1/namespaces", "names": ["training"], "kind": "Namespace"}
    assert foreign(api, OWN, set(), [{**group, "shared": True}]) is None


def test_what_a_destroy_kept_is_taken_up_by_a_state_that_recorded_nothing() -> None:
    claims = {"path": "/claims", "names": ["data"], "kind": "PersistentVolumeClaim"}
    own: Any = Api({"/claims/data": found("data")})
    assert foreign(own, OWN, set(), [{**claims, "outlives": True}]) is None
    assert foreign(own, OWN, set(), [claims]) is not None
    for owner in (None, "another"):
        others: Any = Api({"/claims/data": found("data", owner)})
        assert foreign(others, OWN, set(), [{**claims, "outlives": True}]) is not None


def test_the_first_of_several_groups_is_told() -> None:
    api: Any = Api({"/tfjobs/m": found("m"), "/a/m": found("m", None), "/b/m": found("m", None)})
    others = [{"path": f"/{path}", "names": ["m"], "kind": path} for path in ("b", "a")]
    assert "has b m already" in str(foreign(api, OWN, {OWN}, [jobs("m"), *others]))


def test_who_may_not_list_asks_for_each() -> None:
    class Unlisted(Api):
        def get(self, path: str, **query: str | int) -> dict[str, Any]:
            if path == "/tfjobs":
                raise RefusedError("forbidden", 403, "Forbidden")
            return super().get(path, **query)

    api: Any = Unlisted({"/tfjobs/j7": found("j7", None)})
    assert "has TFJob j7 already" in str(foreign(api, OWN, {OWN}, [jobs(*NAMES)]))


def test_many_names_are_looked_up_in_one_list() -> None:
    class Listing(Api):
        asked = 0

        def get(self, path: str, **query: str | int) -> dict[str, Any]:
            self.asked += 1
            return super().get(path, **query)

    others = {"items": [found("j7", "another"), found("unnamed", "another")]}
    api: Any = Listing({"/tfjobs": others})
    assert "has TFJob j7 already" in str(foreign(api, OWN, {OWN}, [jobs(*NAMES)]))
    assert api.asked == 1


def test_a_namespace_without_an_owner_is_shared_and_one_of_another_stack_is_not() -> None:
    group = {"path": "/api/v1/namespaces", "names": ["training"], "kind": "Namespace"}
    bare: Any = Api({NAMESPACE: found("training", None)})
    assert foreign(bare, OWN, {OWN}, [{**group, "shared": True}]) is None
    taken: Any = Api({NAMESPACE: found("training", "another")})
    assert "it is of stack another" in str(foreign(taken, OWN, {OWN}, [{**group, "shared": True}]))
