"""What the Jobs that look after the shared volume have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from config.names import LONGEST_LABEL
from config.stack import Stack
from workloads.pods import MANAGED_BY, Manifest, pod_settings

_MARGIN_SECONDS = 60


def batch_job_spec(
    stack: Stack,
    name: str,
    init_containers: Sequence[Manifest],
    container: Manifest,
    volumes: Sequence[Manifest],
    deadline_seconds: int,
) -> Manifest:
    """A Job of one pod that runs once, named `name` and a digest of all that the pod is: Jobs
    cannot be changed, so another pod is another Job.

    `up` waits until it is complete, and fails with the container's termination message as soon as
    it has failed. The next `up` then makes it again. There is no ttlSecondsAfterFinished: a Job
    that went away would be made again by every `up` that looks.
    """
    labels = {**MANAGED_BY, "app.kubernetes.io/name": name[:LONGEST_LABEL].rstrip("-")}
    pod: Manifest = {
        **pod_settings(stack),
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": list(volumes),
    }
    if init_containers:
        pod["initContainers"] = list(init_containers)
    spec: Manifest = {
        # The program tries again by itself what may come right by itself; all else is told at once.
        "backoffLimit": 0,
        # A pod that was evicted, or whose node went away, is none that failed.
        # https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
        # No rule has FailJob: Pulumi would not see that such a Job has failed, and wait on.
        "podFailurePolicy": {
            "rules": [
                {
                    "action": "Ignore",
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                }
            ]
        },
        # Not two at once: the next pod starts when the one before has ended.
        "podReplacementPolicy": "Failed",
        "activeDeadlineSeconds": deadline_seconds,
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": _named_by_content(name, spec),
            "namespace": stack.kubernetes.namespace,
            "labels": labels,
            "annotations": {
                # Without it a Job that has failed is never run again: `up` only looks at it.
                "pulumi.com/replaceUnready": "true",
                # Pulumi's own is 10 minutes without news; the Job's deadline is what counts.
                "pulumi.com/timeoutSeconds": str(deadline_seconds + _MARGIN_SECONDS),
            },
        },
        "spec": spec,
    }


def _named_by_content(name: str, spec: Manifest) -> str:
    content = json.dumps([name, spec], sort_keys=True).encode()
    suffix = f"-{hashlib.sha256(content).hexdigest()[:10]}"
    return f"{name[: LONGEST_LABEL - len(suffix)].rstrip('-')}{suffix}"
