"""The life of jobs on a cluster, with a shell in the place of TensorFlow."""

import shutil
import signal
import time
from typing import Any

from tests.cluster.stacks import LONG, ClusterStack, sentences, shell_job, summary
from tests.cluster.waiting import until


def up(stack: ClusterStack, **sections: Any) -> Any:
    stack.configure(**sections)
    return stack.workspace.up()


def test_a_job_is_declared_changed_suspended_resumed_and_destroyed(stack: ClusterStack) -> None:
    """Only suspend changes in place; a second up and a refresh change nothing."""
    job = shell_job(stack.cluster, LONG, worker={"replicas": 2}, chief={})
    created = up(stack, jobs={"m": job})
    assert created.code == 0, created
    assert stack.workspace.outputs()["jobs"]["m"] == {"state": "Running", "directory": "m"}
    uid = stack.tfjob("m")["metadata"]["uid"]

    for again in (stack.workspace.up(), stack.workspace.refresh(), stack.workspace.preview()):
        assert again.code == 0, again
        assert "unchanged" in summary(again), again
        assert "change" not in summary(again).replace("unchanged", ""), again

    suspended = up(stack, jobs={"m": {**job, "suspend": True}})
    assert suspended.code == 0, suspended
    assert "suspended in place: its pods are ended, its checkpoints are kept" in suspended.text
    assert "replace" not in summary(suspended)
    assert stack.condition("m") == "Suspended"
    assert stack.pods("m") == {}

    resumed = up(stack, jobs={"m": job})
    assert resumed.code == 0, resumed
    assert "goes on in place" in resumed.text
    assert stack.tfjob("m")["metadata"]["uid"] == uid
    assert stack.condition("m") == "Running"

    larger = {**job, "worker": {"replicas": 3}}
    stack.configure(jobs={"m": larger})
    preview = stack.workspace.preview()
    assert "+-kubernetes:kubeflow.org/v1:TFJob: (replace)" in preview.text, preview
    assert "worker 2 → 3: the running job is deleted and created again" in preview.text
    replaced = stack.workspace.up()
    assert replaced.code == 0, replaced
    assert stack.tfjob("m")["metadata"]["uid"] != uid
    assert len(stack.pods("m")) == 4

    destroyed = stack.workspace.destroy()
    assert destroyed.code == 0, destroyed
    gone = stack.cluster.run("get", "namespace", stack.namespace)
    assert "NotFound" in gone.stderr
    assert stack.volumes() == []
    if stack.cluster.place is not None:
        assert (stack.volume / "m").is_dir()


def test_failures_are_told_in_seconds_and_stay_failures(stack: ClusterStack) -> None:
    jobs = {
        "exits": shell_job(stack.cluster, "echo it went wrong; exit 1", wait="succeeded"),
        "killed": shell_job(
            stack.cluster, "exit 137", chief={"restartPolicy": "Never"}, wait="succeeded"
        ),
        "nowhere": shell_job(stack.cluster, "true", worker={"nodePool": "none", "gpus": 1}),
        "unpullable": shell_job(stack.cluster, "true", image="test.local/absent:1"),
    }
    pools = {"none": {"selector": {"pool": "none"}}}
    began = time.monotonic()
    failed = up(stack, jobs=jobs, nodePools=pools)
    assert failed.code != 0
    text = sentences(failed)
    assert 'exits Failed: job "exits" is failing because "Chief" replica(s) failed' in text
    assert "the first to fail was chief-0, with exit code 1" in text
    assert "it went wrong" in text
    assert "whole log: make logs JOB=exits REPLICA=chief-0" in text
    assert "the first to fail was chief-0, with exit code 137" in text
    assert "nowhere: worker-0 cannot be placed on a node: 0/" in text
    assert "unpullable: chief-0 cannot have its image test.local/absent:1" in text
    # No timeout of anybody's: the shortest, of Pulumi's own awaits, is 5 minutes.
    assert time.monotonic() - began < 240

    again = stack.workspace.up("--target-dependents", "--target", "**TrainingRun::unpullable")
    assert again.code != 0, again

    mended = {name: shell_job(stack.cluster, "sleep 1", wait="succeeded") for name in jobs}
    done = up(stack, jobs=mended)
    assert done.code == 0, done
    states = {name: job["state"] for name, job in stack.workspace.outputs()["jobs"].items()}
    assert states == dict.fromkeys(jobs, "Succeeded")


def test_a_job_that_failed_is_started_again_by_the_next_up(stack: ClusterStack) -> None:
    """Failed once by what was no fault of its own: the same config, and no manual step."""
    script = (
        "test -f $ACK_TRAINING_JOB_DIR/second || { touch $ACK_TRAINING_JOB_DIR/second; exit 1; }"
    )
    job = shell_job(stack.cluster, script, wait="succeeded")
    failed = up(stack, jobs={"m": job})
    assert failed.code != 0
    preview = stack.workspace.preview()
    assert "it failed: `pulumi up` starts it again" in preview.text, preview
    again = stack.workspace.up()
    assert again.code == 0, again
    assert stack.condition("m") == "Succeeded"
    unchanged = stack.workspace.up()
    assert "unchanged" in summary(unchanged)
    assert "change" not in summary(unchanged).replace("unchanged", ""), unchanged


def test_what_another_stack_or_person_has_is_not_taken_over(
    stack: ClusterStack,
) -> None:
    job = shell_job(stack.cluster, LONG)
    first = up(stack, jobs={})
    assert first.code == 0, first
    manifest: dict[str, Any] = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": "m", "namespace": stack.namespace},
        "spec": {
            "runPolicy": {"suspend": True},
            "tfReplicaSpecs": {
                "Worker": {
                    "replicas": 1,
                    "template": {
                        "spec": {"containers": [{"name": "tensorflow", "image": "own:1"}]}
                    },
                }
            },
        },
    }
    stack.cluster.apply(manifest)
    refused = up(stack, jobs={"m": job})
    assert refused.code != 0
    assert (
        "has TFJob m already, and it is of no ack-training stack: rename the job, or delete that "
        "one"
    ) in refused.text
    assert stack.tfjob("m")["spec"]["runPolicy"]["suspend"] is True
    stack.kubectl("delete", "tfjob", "m")


def test_an_engine_that_was_killed_leaves_a_stack_that_the_next_up_finishes(
    stack: ClusterStack,
) -> None:
    stack.configure(jobs={"m": shell_job(stack.cluster, LONG, worker={"replicas": 2})})
    running = stack.workspace.start("up", "--yes", "--skip-preview")
    until(
        lambda: stack.cluster.run("get", "tfjob", "m", "-n", stack.namespace).returncode == 0, 120
    )
    running.send_signal(signal.SIGKILL)
    running.communicate()
    stack.workspace.pulumi("cancel", "--yes")
    finished = stack.workspace.up()
    assert finished.code == 0, finished
    assert stack.condition("m") == "Running"
    assert "unchanged" in summary(stack.workspace.up())


def test_a_program_that_ends_at_once_is_not_called_running(stack: ClusterStack) -> None:
    """Its pods run for a moment; an `up` that is content with that would be green."""
    failed = up(stack, jobs={"m": shell_job(stack.cluster, "sleep 2; echo no such flag; exit 2")})
    assert failed.code != 0, failed
    assert "the first to fail was chief-0, with exit code 2" in sentences(failed)
    assert "no such flag" in sentences(failed)


def test_another_storage_is_another_volume_and_the_old_data_stays(stack: ClusterStack) -> None:
    mark = "$ACK_TRAINING_JOB_DIR/mark"
    job = shell_job(stack.cluster, f"touch {mark}; {LONG}")
    first = up(stack, jobs={"m": job})
    assert first.code == 0, first
    (old,) = stack.volumes()
    other = stack.volume.with_name(f"{stack.volume.name}-other")
    try:
        moved = up(stack, jobs={"m": job}, storage={"hostPath": str(other)})
        assert moved.code == 0, moved
        (new,) = stack.volumes()
        assert new != old
        if stack.cluster.place is not None:
            assert (stack.volume / "m/mark").exists()
            assert (other / "m/mark").exists()
    finally:
        stack.workspace.destroy()
        if stack.cluster.place is not None:
            shutil.rmtree(other, ignore_errors=True)
