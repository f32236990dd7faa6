"""What a stack needs of a cluster."""

from collections.abc import Sequence
from typing import Any

from cluster.connection import Connection
from cluster.requirements import NEEDED, unmet
from tests.cluster_reading.api_server import Request, api_server, kubeconfig

ALL = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
TFJOBS = {"crd": "tfjobs.kubeflow.org", "hint": "install it"}


def refusal(
    rules: list[dict[str, Any]],
    requires: Sequence[dict[str, Any]] = (),
    *,
    allowed: bool = False,
    trial: tuple[int, str] = (201, ""),
) -> tuple[str | None, int]:
    """What is said by a cluster with these rules and the TFJobs of kubeflow.org; and how many
    requests that took. `allowed` is what else than RBAC decides, `trial` what a TFJob on trial is
    answered."""

    def answer(request: Request) -> tuple[int, Any]:
        if request.path.endswith("selfsubjectrulesreviews"):
            return 201, {"status": {"resourceRules": rules, "incomplete": True}}
        if request.path.endswith("selfsubjectaccessreviews"):
            return 201, {"status": {"allowed": allowed}}
        if request.path.endswith("/tfjobs?dryRun=All"):
            return trial[0], {"message": trial[1]}
        known = {
            "/apis/kubeflow.org": {"versions": [{"groupVersion": "kubeflow.org/v1"}]},
            "/apis/kubeflow.org/v1": {"resources": [{"name": "tfjobs"}, {"name": "tfjobs/status"}]},
        }
        found = known.get(request.path)
        return (200, found) if found else (404, {"reason": "NotFound"})

    with api_server(answer) as server:
        cluster = Connection(content=kubeconfig(server.url)).open()
        said = unmet(cluster, "training", requires)
    return said and said.replace(cluster.name, "cluster"), len(server.requests)


def test_one_question_tells_all_rights() -> None:
    assert refusal(ALL) == (None, 1)


def test_what_is_missing_is_listed_by_resource() -> None:
    rules = [
        {
            "verbs": ["get", "list", "create", "patch"],
            "apiGroups": ["", "kubeflow.org"],
            "resources": ["tfjobs", "pods", "pods/log", "configmaps"],
        }
    ]
    said, _ = refusal(rules)
    assert said == (
        "cluster does not allow its user to delete tfjobs.kubeflow.org, list events, delete "
        "configmaps in namespace training: it needs a Role with these rights"
    )
    said, _ = refusal([])
    assert said is not None
    assert "to get, create, patch and delete tfjobs.kubeflow.org, " in said


def test_a_right_to_one_object_is_no_right_to_all() -> None:
    rules = [*ALL[:0], {**ALL[0], "resourceNames": ["m"]}]
    said, _ = refusal(rules)
    assert said is not None


def test_what_rbac_does_not_show_is_asked_for() -> None:
    assert refusal([], allowed=True) == (None, 1 + len(NEEDED))


def test_more_rights_may_be_needed() -> None:
    more = {"verb": "create", "resource": "namespaces"}
    rules = [{**ALL[0], "resources": [r.resource for r in NEEDED]}]
    said, _ = refusal(rules, [more])
    assert said is not None
    assert "to create namespaces in" in said


def test_a_definition_that_is_there_and_one_that_is_not() -> None:
    assert refusal(ALL, [TFJOBS])[0] is None
    said, _ = refusal(ALL, [{"crd": "xjobs.kubeflow.org", "hint": "install it"}])
    assert said == "cluster has no xjobs.kubeflow.org: install it"
    said, _ = refusal(ALL, [{"crd": "xjobs.example.org"}])
    assert said == "cluster has no xjobs.example.org"


def test_an_operator_is_asked_to_look_at_a_job_on_trial() -> None:
    operator = [{"operator": "kubeflow", "hint": "mend it"}]
    assert refusal(ALL, operator)[0] is None
    # The namespace may be the stack's to create.
    assert refusal(ALL, operator, trial=(404, 'namespaces "training" not found'))[0] is None
    away = 'failed calling webhook "validator.tfjob.training-operator.kubeflow.org": refused'
    said, _ = refusal(ALL, operator, trial=(500, away))
    expected = "cluster: the training operator in namespace kubeflow does not answer: mend it"
    assert said == expected
