"""What a destroy removes: what the stack made and left empty. Whatever else is in it keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cluster import holdings
from cluster.errors import RefusedError, UnreachableError
from cluster.leftovers import is_anothers, remove
from tests.cluster_reading.test_ownership import DEFINITION, NAMESPACE, OWN, Api, found

VERBS = ["create", "delete", "get", "list"]
CORE = ("configmaps", "endpoints", "events", "persistentvolumeclaims", "pods", "serviceaccounts")
NAMES = {"plural": "tfjobs"}
VERSIONS = [{"name": "v1beta2", "served": False}, {"name": "v1", "served": True}]


def item(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "other", **metadata}}


def items(*names: str) -> dict[str, Any]:
    return {"items": [item(name) for name in names]}


def resource(name: str, *, namespaced: bool = True, verbs: list[str] = VERBS) -> dict[str, Any]:
    return {"name": name, "namespaced": namespaced, "verbs": verbs}


def group(name: str, *versions: str, preferred: str) -> dict[str, Any]:
    named = [{"groupVersion": f"{name}/{version}"} for version in versions]
    return {
        "name": name,
        "versions": named,
        "preferredVersion": {"groupVersion": f"{name}/{preferred}"},
    }


class Server(Api):
    """An API server with groups that no list of kinds would name. A kind that it offers and of
    which the test says nothing has no objects; an exception in the place of an answer is raised."""

    def __init__(self, objects: Mapping[str, Any]) -> None:
        empty = {f"{NAMESPACE}/{plural}": items() for plural in CORE}
        super().__init__(
            {
                NAMESPACE: found("training"),
                "/api/v1": {
                    "resources": [
                        *map(resource, CORE),
                        resource("pods/log"),
                        resource("nodes", namespaced=False),
                        resource("bindings", verbs=["create"]),
                    ]
                },
                "/apis": {
                    "groups": [
                        group("example.org", "v1beta1", "v1", preferred="v1"),
                        group("metrics.k8s.io", "v1beta1", preferred="v1beta1"),
                    ]
                },
                "/apis/example.org/v1": {"resources": [resource("widgets")]},
                "/apis/example.org/v1beta1": {
                    "resources": [resource("widgets"), resource("gadgets")]
                },
                "/apis/metrics.k8s.io/v1beta1": {
                    "resources": [resource("pods", verbs=["get", "list"])]
                },
                **empty,
                f"{NAMESPACE}/configmaps": items("kube-root-ca.crt"),
                f"{NAMESPACE}/serviceaccounts": items("default"),
                f"{NAMESPACE}/events": items("x.1"),
                "/apis/example.org/v1/namespaces/training/widgets": items(),
                "/apis/example.org/v1beta1/namespaces/training/gadgets": items(),
                **objects,
            }
        )

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        answer: Any = super().get(path, **query)
        if isinstance(answer, list):
            # One after the other; the last for good.
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)


def removed(objects: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What `remove` says, and what it deletes."""
    api: Any = Server(objects)
    said = [remove(api, [OWN], path) for path in (NAMESPACE, DEFINITION)]
    return [each for each in said if each], [path for path, _ in api.deleted]


def definition(versions: list[dict[str, Any]] = VERSIONS) -> dict[str, Any]:
    made = found("tfjobs.kubeflow.org", kind="CustomResourceDefinition")
    return {**made, "spec": {"group": "kubeflow.org", "names": NAMES, "versions": versions}}


def test_what_the_stack_made_and_left_empty_is_removed_and_nothing_else() -> None:
    api: Any = Server({DEFINITION: definition(), "/apis/kubeflow.org/v1/tfjobs": items()})
    assert [remove(api, [OWN], path) for path in (NAMESPACE, DEFINITION)] == [None, None]
    assert [path for path, _ in api.deleted] == [NAMESPACE, DEFINITION]
    # That very object, as it was looked at.
    assert api.deleted[0][1] == {"preconditions": {"uid": "uid-training", "resourceVersion": "7"}}


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (f"{NAMESPACE}/persistentvolumeclaims", "persistentvolumeclaims x"),
        (f"{NAMESPACE}/configmaps", "configmaps x"),
        ("/apis/example.org/v1/namespaces/training/widgets", "widgets.example.org x"),
        # Of a version that is not the preferred one.
        ("/apis/example.org/v1beta1/namespaces/training/gadgets", "gadgets.example.org x"),
    ],
)
def test_a_namespace_that_holds_anything_is_kept_and_told(path: str, told: str) -> None:
    assert removed({path: items("x")}) == (
        [f"Namespace training is kept: it holds {told}"],
        [],
    )


FORBIDDEN = RefusedError("forbidden", 403, "Forbidden")
DOWN = RefusedError("unavailable", 503, "ServiceUnavailable")


@pytest.mark.parametrize(
    ("path", "answer", "told"),
    [
        (
            "/apis/example.org/v1/namespaces/training/widgets",
            FORBIDDEN,
            "whether it holds widgets.example.org cannot be told: forbidden",
        ),
        (
            "/apis/metrics.k8s.io/v1beta1",
            DOWN,
            "whether it holds objects of metrics.k8s.io/v1beta1 cannot be told",
        ),
        ("/apis", FORBIDDEN, "what it holds cannot be told: forbidden"),
        (
            "/apis/example.org/v1",
            {"resources": [resource("secrets", verbs=["create", "delete"])]},
            "whether it holds objects of secrets.example.org cannot be told",
        ),
    ],
)
def test_what_cannot_be_told_keeps_the_namespace(path: str, answer: Any, told: str) -> None:
    assert removed({path: answer}) == ([f"Namespace training is kept: {told}"], [])


def test_a_cluster_that_is_gone_is_no_namespace_that_is_kept() -> None:
    with pytest.raises(UnreachableError):
        removed({"/api/v1": UnreachableError("gone")})


GOING = {
    f"{NAMESPACE}/pods": item("m", deletionTimestamp="2026-01-01T00:00:00Z"),
    f"{NAMESPACE}/endpoints": item("tensorboard"),
    "/apis/example.org/v1/namespaces/training/widgets": item("w", ownerReferences=[{"uid": "1"}]),
}


@pytest.mark.parametrize("path", GOING)
def test_what_goes_by_itself_is_waited_for(path: str) -> None:
    answers = [{"items": [GOING[path]]}, items()]
    assert removed({path: answers}) == ([], [NAMESPACE])


@pytest.mark.parametrize("path", GOING)
def test_what_should_go_and_does_not_keeps_the_namespace(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holdings, "PATIENCE_SECONDS", 0.0)
    said, gone = removed({path: {"items": [GOING[path]]}})
    assert "is kept: it holds " in said[0]
    assert gone == []


def test_all_pages_of_a_list_are_looked_at() -> None:
    first = {"items": [item("kube-root-ca.crt")], "metadata": {"continue": "more"}}
    said, gone = removed({f"{NAMESPACE}/configmaps": [first, items("x")]})
    assert said == ["Namespace training is kept: it holds configmaps x"]
    assert gone == []


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ({"/apis/kubeflow.org/v1/tfjobs": items("m")}, "it holds tfjobs of other"),
        (
            {"/apis/kubeflow.org/v1/tfjobs": FORBIDDEN},
            "whether there are tfjobs cannot be told: forbidden",
        ),
        # Not found is no answer: they may be in a version that is asked for elsewhere.
        ({}, "whether there are tfjobs cannot be told: not found"),
        (
            {DEFINITION: definition([{"name": "v1", "served": False}])},
            "whether there are tfjobs cannot be told: no version of them is served",
        ),
    ],
)
def test_a_definition_that_may_have_jobs_is_kept(objects: dict[str, Any], told: str) -> None:
    said, gone = removed({DEFINITION: definition(), **objects})
    assert said == [f"CustomResourceDefinition tfjobs.kubeflow.org is kept: {told}"]
    assert gone == [NAMESPACE]


def test_what_may_not_be_deleted_is_kept_and_told() -> None:
    class Guarded(Server):
        def delete(self, path: str, options: Any = None) -> dict[str, Any]:
            raise FORBIDDEN

    api: Any = Guarded({})
    assert remove(api, [OWN], NAMESPACE) == "training is kept: forbidden"


@pytest.mark.parametrize("owner", [None, "another"])
def test_what_is_not_the_stacks_is_left(owner: str | None) -> None:
    api: Any = Server({NAMESPACE: found("training", owner)})
    assert remove(api, [OWN, "its former name"], NAMESPACE) is None
    assert api.deleted == []


def test_what_a_stack_made_under_its_former_name_is_its_own() -> None:
    api: Any = Server({NAMESPACE: found("training", "its former name")})
    assert not is_anothers(api, [OWN, "its former name"], NAMESPACE)
    assert remove(api, [OWN, "its former name"], NAMESPACE) is None
    assert [path for path, _ in api.deleted] == [NAMESPACE]


def test_what_was_there_before_the_stack_is_known() -> None:
    api: Any = Api({NAMESPACE: found("training", None)})
    assert is_anothers(api, [OWN], NAMESPACE)
    assert not is_anothers(api, [OWN], DEFINITION)
