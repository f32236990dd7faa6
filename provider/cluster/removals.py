"""What a preview says of jobs that the stack no longer declares. The engine asks no provider about
what it will delete, so that the connection, which knows the names of all, tells it."""

from cluster.api_objects import job_seen
from cluster.errors import ClusterError
from cluster.observe import job_progress, read_job
from cluster.verdict import FINISHED, state_of
from provider.cluster.opened import is_known, opened
from provider.kinds import Call, Properties, ProviderError


def removals(call: Call) -> tuple[str, ...]:
    """`job b is removed: it is Running (step 100 of 2000 was reached), and its TFJob is deleted`
    and so on, a sentence for each. A namespace that the stack leaves is told of elsewhere."""
    namespace = call.inputs.get("namespace")
    if call.old_inputs.get("namespace") != namespace:
        return ()
    gone = sorted(_jobs(call.old_inputs) - _jobs(call.inputs))
    return tuple(
        f"job {name} is removed: {_now(call.inputs, str(namespace), name)}; its checkpoints, logs "
        "and exports stay"
        for name in gone
    )


def _jobs(inputs: Properties) -> set[str]:
    groups = inputs.get("declares") or []
    return {name for group in groups if group["kind"] == "TFJob" for name in group["names"]}


def _now(inputs: Properties, namespace: str, name: str) -> str:
    ended = "its TFJob is deleted"
    if not is_known(inputs):
        return ended
    try:
        cluster = opened(inputs)
        job = read_job(cluster, namespace, name)
        if job is None or (state := state_of(job_seen(job, (), ()))) in FINISHED:
            return ended
        progress = job_progress(cluster, namespace, name)
    except (ClusterError, ProviderError):
        return ended
    reached = ""
    if progress is not None and progress.steps:
        reached = f" (step {progress.step} of {progress.steps} was reached)"
    return f"it is {state}{reached}, and {ended}"
