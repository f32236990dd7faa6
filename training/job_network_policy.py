"""Who may reach the replicas of a job."""

from __future__ import annotations

from config.jobs import Job
from workloads.pods import MANAGED_BY, Manifest


def job_network_policy(job: Job, namespace: str) -> Manifest:
    """Only the job's own pods may: TensorFlow's servers run whatever they are sent.
    https://github.com/tensorflow/tensorflow/blob/master/SECURITY.md

    A cluster whose network knows no policies ignores it.
    """
    pods = {"matchLabels": {"training.kubeflow.org/job-name": job.name}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": job.name, "namespace": namespace, "labels": MANAGED_BY},
        "spec": {
            "podSelector": pods,
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": pods}]}],
        },
    }
