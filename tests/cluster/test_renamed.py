"""A stack that is renamed, or goes to another namespace, keeps its jobs' data."""

import json
from pathlib import Path

from tests.cluster.stacks import LONG, ClusterStack, shell_job, summary

STARTS = f"date >>$ACK_TRAINING_JOB_DIR/starts; {LONG}"


def starts(stack: ClusterStack) -> int:
    """How often the job's program was started on the very same data."""
    script = "cat $ACK_TRAINING_JOB_DIR/starts"
    return len(stack.kubectl("exec", "m-chief-0", "--", "sh", "-c", script).splitlines())


def unchanged(stack: ClusterStack) -> None:
    again = stack.workspace.up()
    assert again.code == 0, again
    assert "change" not in summary(again).replace("unchanged", ""), again


def test_a_renamed_stack_goes_on(stack: ClusterStack) -> None:
    jobs = {"m": shell_job(stack.cluster, STARTS)}
    stack.configure(jobs=jobs)
    created = stack.workspace.up()
    assert created.code == 0, created
    assert stack.workspace.pulumi("stack", "rename", "other").code == 0
    settings = stack.workspace.path / "Pulumi.other.yaml"
    if not settings.exists():
        (stack.workspace.path / "Pulumi.test.yaml").rename(settings)
    up = stack.workspace.up()
    assert up.code == 0, up
    # Its pods were left alone, and all of it bears the new name.
    assert starts(stack) == 1
    owner = "organization.ack-training.other"
    assert stack.tfjob("m")["metadata"]["labels"]["ack-training/stack"] == owner
    if stack.cluster.place is not None:
        mark = json.loads(Path(stack.volume, "m/.owner.json").read_text())
        assert mark["stack"] == owner
    unchanged(stack)
    destroyed = stack.workspace.destroy()
    assert destroyed.code == 0, destroyed
    assert "NotFound" in stack.cluster.run("get", "namespace", stack.namespace).stderr


def test_another_namespace(stack: ClusterStack) -> None:
    before, after = stack.namespace, f"{stack.namespace}-b"
    jobs = {"m": shell_job(stack.cluster, STARTS)}
    board = {"enabled": True}
    stack.configure(jobs=jobs, tensorboard=board)
    created = stack.workspace.up()
    assert created.code == 0, created
    stack.namespace = after
    stack.configure(jobs=jobs, tensorboard=board)
    preview = stack.workspace.preview()
    assert (
        f"the jobs are ended in namespace {before} and made again in {after}, where they go on "
        "from their checkpoints: the data stays where it is"
    ) in preview.text, preview
    up = stack.workspace.up()
    assert up.code == 0, up
    assert starts(stack) == 2
    # The one before was left empty.
    assert "NotFound" in stack.cluster.run("get", "namespace", before).stderr
    volumes = stack.cluster.get("persistentvolumes")["items"]
    claims = [volume["spec"].get("claimRef", {}).get("namespace") for volume in volumes]
    assert before not in claims
    unchanged(stack)
