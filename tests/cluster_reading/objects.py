"""Objects of the Kubernetes API as a real cluster has them, without what nothing here reads."""

from typing import Any

from cluster.api_objects import event_seen, job_seen, pod_seen, with_events
from cluster.seen import GENERATION, JobSeen

Object = dict[str, Any]

JOB_UID, POD_UID = "8f87f99c-job", "116707bc-{}"
AT = "2026-11-30T16:53:{:02}Z"


def job(**spec: Any) -> Object:
    """A TFJob of one worker, or of the `roles` given as {"Worker": 2}; `conditions` as {"Running":
    "message"} all hold. `policy` is the restartPolicy of all roles, `run` is the runPolicy."""
    roles = spec.get("roles", {"Worker": 1})
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": f"TFJob{kind}",
            "message": message,
            "lastTransitionTime": AT.format(1),
            "lastUpdateTime": AT.format(1),
        }
        for kind, message in spec.get("conditions", {"Created": "TFJob m is created."}).items()
    ]
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {
            "name": "m",
            "namespace": "training",
            "uid": JOB_UID,
            "creationTimestamp": AT.format(0),
            "annotations": {GENERATION: "g1"},
            **spec.get("metadata", {}),
        },
        "spec": {
            "runPolicy": {"cleanPodPolicy": "Running", "suspend": False, **spec.get("run", {})},
            "tfReplicaSpecs": {
                role: {
                    "replicas": count,
                    "restartPolicy": spec.get("policy", "ExitCode"),
                    "template": {
                        "metadata": {"annotations": {GENERATION: "g1"}},
                        "spec": {"containers": [{"name": "tensorflow", "image": "x"}]},
                    },
                }
                for role, count in roles.items()
            },
        },
        "status": {"conditions": conditions} if conditions else {},
    }


def pod(replica: str = "worker-0", **made: Any) -> Object:
    """A pod with a node, its container in `state`, or without a node where `unscheduled` is the
    scheduler's word. `status`, `spec` and `metadata` are more of each."""
    role, _, index = replica.rpartition("-")
    unscheduled = made.get("unscheduled")
    containers = [] if unscheduled else [container(**made.get("container", {}))]
    scheduled: Object = {
        "type": "PodScheduled",
        "status": "True",
        "lastTransitionTime": AT.format(2),
    }
    if unscheduled:
        scheduled |= {"status": "False", "reason": "Unschedulable", "message": unscheduled}
    return {
        "metadata": {
            "name": f"m-{replica}",
            "namespace": "training",
            "uid": POD_UID.format(replica),
            "labels": {
                "training.kubeflow.org/job-name": "m",
                "training.kubeflow.org/replica-type": role,
                "training.kubeflow.org/replica-index": index,
            },
            "annotations": {GENERATION: "g1"},
            **made.get("metadata", {}),
        },
        "spec": {
            "containers": [{"name": "tensorflow", "resources": made.get("resources", {})}],
            "schedulerName": "default-scheduler",
            **({} if unscheduled else {"nodeName": "n1"}),
            **made.get("spec", {}),
        },
        "status": {
            "phase": made.get("phase", "Pending"),
            "conditions": [scheduled],
            "containerStatuses": containers,
            **made.get("status", {}),
        },
    }


def container(**state: Any) -> Object:
    """A container's status: `waiting` as (reason, message), `ended` and `before` as arguments of
    `end`, else running where `running` is set. It is created where nothing is given."""
    now: Object = {"waiting": {"reason": "ContainerCreating"}}
    if "waiting" in state:
        reason, message = state["waiting"]
        now = {"waiting": {"reason": reason, "message": message}}
    elif "ended" in state:
        now = {"terminated": end(**state["ended"])}
    elif state.get("running"):
        now = {"running": {"startedAt": AT.format(9)}}
    return {
        "name": state.get("name", "tensorflow"),
        "image": "registry.invalid/no/such:1",
        "state": now,
        "lastState": {"terminated": end(**state["before"])} if "before" in state else {},
        "restartCount": state.get("restarts", 0),
    }


def end(code: int, reason: str = "Error", message: str = "", second: int = 20) -> Object:
    return {
        "exitCode": code,
        "reason": reason,
        "startedAt": AT.format(9),
        "finishedAt": AT.format(second),
        **({"message": message} if message else {}),
    }


def event(reason: str, message: str, about: str = "", second: int = 30, **more: Any) -> Object:
    """An event of the TFJob, or of the pod of the replica `about`."""
    uid = POD_UID.format(about) if about else JOB_UID
    name = f"m-{about}" if about else "m"
    return {
        "metadata": {"creationTimestamp": AT.format(1)},
        "involvedObject": {"kind": "Pod" if about else "TFJob", "uid": uid, "name": name},
        "reason": reason,
        "message": message,
        "type": "Warning",
        "firstTimestamp": AT.format(1),
        "lastTimestamp": AT.format(second),
        "eventTime": None,
        "count": 3,
        **more,
    }


def seen(found: Object, *pods: Object, events: tuple[Object, ...] = ()) -> JobSeen:
    """What `observe` makes of these objects."""
    told = [event_seen(one) for one in events]
    return job_seen(found, [with_events(pod_seen(one), told) for one in pods], told)
