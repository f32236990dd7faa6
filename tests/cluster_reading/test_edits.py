"""What was changed by hand of a TFJob."""

from typing import Any

from cluster.edits import Edit, edit_of

MINE: dict[str, Any] = {
    "f:spec": {
        "f:runPolicy": {"f:cleanPodPolicy": {}},
        "f:tfReplicaSpecs": {
            "f:Worker": {
                "f:template": {"f:spec": {"f:volumes": {'k:{"name":"v"}': {".": {}, "f:name": {}}}}}
            }
        },
    }
}
OWNER = {"manager": "pulumi-kubernetes-1", "operation": "Apply", "fieldsV1": MINE}


def live(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "m", "managedFields": list(entries)}}


def by(manager: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "fieldsV1": {"f:spec": spec}, **more}


def test_what_another_wrote_is_told() -> None:
    suspended = by("kubectl-edit", {"f:runPolicy": {"f:suspend": {}}})
    resized = by("kubectl-patch", {"f:tfReplicaSpecs": {"f:Worker": {"f:replicas": {}}}})
    assert edit_of(live(suspended, OWNER, resized)) == Edit(
        ("kubectl-edit", "kubectl-patch"), ("runPolicy.suspend", "tfReplicaSpecs.Worker.replicas")
    )


def test_what_has_the_owners_value_is_no_change() -> None:
    same = by("kubectl", {"f:runPolicy": {".": {}, "f:cleanPodPolicy": {}}})
    assert edit_of(live(OWNER, same)) is None


def test_what_the_operator_writes_is_none() -> None:
    assert edit_of(live(OWNER, by("operator", {"f:x": {}}, subresource="status"))) is None
    assert edit_of(live(OWNER, {"manager": "operator", "fieldsV1": {"f:status": {}}})) is None


def test_where_nobody_applies_nothing_can_be_told() -> None:
    created = {**OWNER, "operation": "Update"}
    assert edit_of(live(created, by("kubectl-edit", {"f:runPolicy": {"f:suspend": {}}}))) is None
    assert edit_of(live()) is None
