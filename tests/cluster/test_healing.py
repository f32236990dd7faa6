"""What somebody deleted by hand is made again by `pulumi refresh` and `pulumi up`."""

from tests.cluster.stacks import LONG, ClusterStack, exported_resources, shell_job, summary
from tests.cluster.waiting import until


def heal(stack: ClusterStack) -> None:
    refreshed = stack.workspace.refresh()
    assert refreshed.code == 0, refreshed
    up = stack.workspace.up()
    assert up.code == 0, up
    again = stack.workspace.up()
    assert "change" not in summary(again).replace("unchanged", ""), again


def claim_of(stack: ClusterStack) -> str:
    (claim,) = stack.get("persistentvolumeclaims")["items"]
    return str(claim["metadata"]["name"])


def test_a_claim_that_was_deleted(stack: ClusterStack) -> None:
    stack.configure()
    created = stack.workspace.up()
    assert created.code == 0, created
    claim = claim_of(stack)
    # A claim is in use as long as there are pods that mount it, also such as have ended.
    stack.kubectl("delete", "jobs.batch", "--all", "--timeout=60s")
    stack.kubectl("delete", "persistentvolumeclaim", claim, "--timeout=60s")
    (volume,) = stack.volumes()
    phase = ("get", "persistentvolume", volume, "-o", "jsonpath={.status.phase}")
    until(lambda: stack.cluster.kubectl(*phase) == "Released")
    told = stack.workspace.preview()
    assert f"the claim of volume {volume} was deleted: the next one gets it" in told.text, told
    heal(stack)
    assert claim_of(stack) == claim
    assert stack.cluster.kubectl(*phase) == "Bound"


def test_a_namespace_that_was_deleted(stack: ClusterStack) -> None:
    script = f"date >>$ACK_TRAINING_JOB_DIR/starts; {LONG}"
    stack.configure(jobs={"m": shell_job(stack.cluster, script)})
    created = stack.workspace.up()
    assert created.code == 0, created
    before = {resource["urn"] for resource in exported_resources(stack)}
    stack.cluster.kubectl("delete", "namespace", stack.namespace, "--timeout=120s")
    heal(stack)
    assert {resource["urn"] for resource in exported_resources(stack)} == before
    assert stack.condition("m") == "Running"
    starts = stack.kubectl(
        "exec", "m-chief-0", "--", "sh", "-c", "cat $ACK_TRAINING_JOB_DIR/starts"
    )
    assert len(starts.splitlines()) == 2
