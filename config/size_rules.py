"""What would be too large for the API server, or for Linux, that a job's pods are told."""

from __future__ import annotations

import json
from collections.abc import Iterator

from config.errors import Fault
from config.jobs import Job
from config.roles import in_order, replica_name
from config.stack import Stack

_MOST_BYTES = 128 * 1024
"""Linux takes no longer argument or variable, its name and end included. An object of the API
server may have ten times as much, in which each of the four roles has its own copy of a job's text.
https://man7.org/linux/man-pages/man2/execve.2.html
https://etcd.io/docs/v3.6/dev-guide/limit/"""


def size_faults(stack: Stack) -> Iterator[Fault]:
    """Jobs whose pods could not be made, or not be started."""
    if stack.target != "kubernetes":
        return
    for name, job in stack.jobs.items():
        size = _text_bytes(job)
        if size > _MOST_BYTES:
            yield Fault(
                ("jobs", name),
                f"its command, args and env have {size:,} bytes, and may have {_MOST_BYTES:,}; put "
                "long ones into a file on the shared storage",
            )
        size = _tf_config_bytes(job, name, stack.kubernetes.namespace)
        if size > _MOST_BYTES:
            yield Fault(
                ("jobs", name),
                f"TF_CONFIG, which lists the job's {job.total:,} replicas, would have {size:,} "
                f"bytes, and Linux takes {_MOST_BYTES:,}; shorten the job's name and that of the "
                "namespace, or have fewer replicas",
            )


def _text_bytes(job: Job) -> int:
    variables = {name: env.value for name, env in job.env.items()}
    return len(json.dumps([job.command, job.args, variables]))


def _tf_config_bytes(job: Job, name: str, namespace: str) -> int:
    if job.total == 1:
        return 0
    addresses = [
        f'"{replica_name(name, role, index)}.{namespace}.svc:2222",'
        for role, index in in_order(job.counts)
    ]
    # What stands around the addresses.
    return sum(map(len, addresses)) + 200
