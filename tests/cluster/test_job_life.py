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


def changes_nothing(result: Any) -> bool:
    return "change" not in summary(result).replace("unchanged", "")


def test_a_job_is_declared_changed_suspended_resumed_and_destroyed(stack: ClusterStack) -> None:
    """Only suspend changes in place; a second up and a refresh change nothing."""
    sizes = {"worker": {"replicas": 2, "cpu": "10m"}, "chief": {}}
    job = shell_job(stack.cluster, LONG, **sizes)
    stack.configure(jobs={"m": job})
    introduced = stack.workspace.preview()
    assert "chief 1, worker 2 × 10m cpu; in all 20m cpu; `pulumi up` waits until" in introduced.text
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

    stack.configure(jobs={"m": {**job, "directory": "elsewhere"}})
    moved = stack.workspace.preview()
    assert "directory m → elsewhere: the running job is deleted and created again" in moved.text

    larger = {**job, "worker": {"replicas": 3, "cpu": "20m"}}
    stack.configure(jobs={"m": larger})
    preview = stack.workspace.preview()
    assert "+-kubernetes:kubeflow.org/v1:TFJob: (replace)" in preview.text, preview
    assert "worker 2 → 3, worker cpu 10m → 20m: the running job is deleted" in preview.text
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
    assert "whole log: make logs STACK=test JOB=exits REPLICA=chief-0" in text
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
        "test -f $ACK_TRAINING_JOB_DIR/second || "
        "{ touch $ACK_TRAINING_JOB_DIR/second; echo not yet; exit 1; }"
    )
    job = shell_job(stack.cluster, script, wait="succeeded")
    failed = up(stack, jobs={"m": job})
    assert failed.code != 0
    preview = stack.workspace.preview()
    assert "it failed (chief-0, with exit code 1: not yet): `pulumi up` starts" in preview.text
    again = stack.workspace.up()
    assert again.code == 0, again
    assert stack.condition("m") == "Succeeded"
    uid = stack.tfjob("m")["metadata"]["uid"]
    for nothing in (stack.workspace.up(), stack.workspace.refresh(), stack.workspace.up()):
        assert nothing.code == 0, nothing
        # A refresh finds the new TFJob, and nothing else in it.
        assert "replace" not in summary(nothing), nothing
    assert changes_nothing(nothing), nothing
    assert stack.tfjob("m")["metadata"]["uid"] == uid


def test_what_is_done_to_a_tfjob_by_hand_is_told_mended_and_waited_for(stack: ClusterStack) -> None:
    job = shell_job(stack.cluster, f"sleep 3; {LONG}", worker={})
    first = up(stack, jobs={"m": job})
    assert first.code == 0, first

    suspend = '{"spec":{"runPolicy":{"suspend":true}}}'
    stack.kubectl("patch", "tfjob", "m", "--type=merge", "-p", suspend)
    until(lambda: stack.condition("m") == "Suspended")
    told = stack.workspace.preview()
    assert (
        "its TFJob was suspended in the cluster by kubectl-patch: `pulumi refresh`, then "
        "`pulumi up`, puts it back"
    ) in told.text, told
    resumed = refreshed_up(stack)
    assert stack.condition("m") == "Running", resumed

    resize = '{"spec":{"tfReplicaSpecs":{"Worker":{"replicas":2}}}}'
    stack.kubectl("patch", "tfjob", "m", "--type=merge", "-p", resize)
    told = stack.workspace.preview()
    assert "was changed (tfReplicaSpecs.Worker.replicas) in the cluster by kubectl-" in told.text
    refreshed_up(stack)
    assert list(stack.pods("m")) == ["m-worker-0"]

    stack.kubectl("delete", "tfjob", "m")
    told = stack.workspace.preview()
    assert "its TFJob is gone: `pulumi refresh`, then `pulumi up`, creates it again" in told.text
    refreshed_up(stack)
    assert stack.condition("m") == "Running"


def refreshed_up(stack: ClusterStack) -> Any:
    """An `up` after a refresh, which leaves the job running, and nothing to do for the next."""
    assert stack.workspace.refresh().code == 0
    done = stack.workspace.up()
    assert done.code == 0, done
    assert stack.workspace.outputs()["jobs"]["m"]["state"] == "Running", done
    running = {pod["status"]["phase"] for pod in stack.pods("m").values()}
    assert running == {"Running"}, done
    for nothing in (stack.workspace.up(), stack.workspace.refresh(), stack.workspace.up()):
        assert changes_nothing(nothing), nothing
    return done


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
