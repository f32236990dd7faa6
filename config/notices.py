"""What the user should know although nothing is wrong."""

from __future__ import annotations

from config.cluster_notices import cluster_notices
from config.errors import Path
from config.roles import Role
from config.secrets import SecretMarks
from config.stack import Stack

_MANY_PROCESSES = 16


def notices(stack: Stack, marks: SecretMarks) -> tuple[str, ...]:
    """What the user should know although nothing is wrong, one line each."""
    lines = []
    for name, job in sorted(stack.jobs.items()):
        if job.master:
            lines.append(f"ack-training:jobs.{name}.master: read as chief, its name since TF 2")
        if job.success_policy == "AllWorkers" and job.chief:
            lines.append(
                f"ack-training:jobs.{name}.successPolicy: has no effect, as the chief decides"
            )
        for variable, env in sorted(job.env.items()):
            path: Path = ("jobs", name, "env", variable)
            encrypted = "jobs" in marks.opaque or {path, (*path, "value")} & marks.leaves
            if env.secret and not encrypted:
                lines.append(
                    f"ack-training:{'.'.join(map(str, path))}: is hidden from now on, but stands "
                    "in plain text in the stack's file and in the backend's history of it; "
                    "encrypt it with pulumi config set --secret --path"
                )
        if stack.target == "local" and job.total > _MANY_PROCESSES:
            lines.append(
                f"ack-training:jobs.{name}: its {job.total} replicas are as many processes of this "
                "machine; one with TensorFlow takes about 0.6 GiB of memory"
            )
        decider: Role = "chief" if job.chief else "worker"
        if job.roles[decider].restart_policy == "Always":
            lines.append(
                f"ack-training:jobs.{name}.{decider}.restartPolicy: Always starts it again also "
                "after it has succeeded, so the job never ends by itself"
            )
        counting = {role.restart_policy for role in job.roles.values()} & {"OnFailure", "Always"}
        if job.backoff_limit and not counting:
            lines.append(
                f"ack-training:jobs.{name}.backoffLimit: has no effect, as it counts restarts by "
                "the restartPolicy OnFailure or Always, and no role has one of them"
            )
    return (*lines, *cluster_notices(stack)) if stack.target == "kubernetes" else tuple(lines)
