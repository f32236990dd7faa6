"""What a preview says of a job on a cluster. A cluster that does not answer makes it say less, and
fails no preview."""

from dataclasses import dataclass

from cluster.api_objects import job_seen
from cluster.edits import Edit, edit_of
from cluster.errors import ClusterError
from cluster.failure import failure_line
from cluster.masks import Masks
from cluster.observe import job_progress, observe, read_job
from cluster.seen import JobSeen
from cluster.verdict import FINISHED, state_of
from provider.cluster.opened import is_known, opened
from provider.cluster.restart import is_interrupted
from provider.consequence import replacement, resumption
from provider.kinds import Call, Properties, ProviderError
from supervisor.job_progress import JobProgress

_NOT_OF_THE_JOB = (
    "suspend",
    "wait",
    "waitTimeoutSeconds",
    "server",
    "generation",
    "autoscaled",
    "operatorNamespace",
    "uid",
    "opaque",
)
"""Inputs that no sentence on a changed job names. Whether the job changed tells `generation`."""

_LIVE = ("Created", "Running", "Restarting")
_FIELDS = 3


@dataclass(frozen=True)
class Look:
    """The TFJob as it is now, and whether a restart of it was interrupted."""

    seen: JobSeen
    interrupted: bool = False
    edit: Edit | None = None


def look(inputs: Properties) -> Look | None:
    """None where the cluster does not tell."""
    if not is_known(inputs):
        return None
    namespace, name = inputs["namespace"], inputs["name"]
    try:
        cluster = opened(inputs)
        job = read_job(cluster, namespace, name)
        if job is None:
            return Look(JobSeen(name, namespace), is_interrupted(cluster, namespace, name))
        return Look(job_seen(job, (), ()), edit=edit_of(job))
    except (ClusterError, ProviderError):
        return None


def of_replacement(call: Call, paths: tuple[str, ...]) -> str:
    """`worker 2 → 3: the running job is deleted and created again; …`."""
    found = look(call.inputs)
    told = [path for path in paths if path not in _NOT_OF_THE_JOB]
    if "storage" not in call.old_inputs:
        # Of a state from before this was recorded nothing is known.
        told = [path for path in told if path != "storage"]
    state = call.outputs.get("state") if found is None else state_of(found.seen)
    again = f"{'the running job is ' if state in _LIVE else ''}deleted and created again"
    if found is not None and found.seen.uid:
        new = found.seen.generation == call.inputs["generation"]
        if new and found.seen.generation != call.old_inputs.get("generation"):
            # By this very `up`, or by one that was interrupted then.
            again = "was deleted and created again"
    return replacement(call, told, _Log(), again)


def of_failure(call: Call) -> str:
    """`it failed (chief-0, with exit code 1: no such file): `pulumi up` starts it again; …`."""
    why = _why_failed(call.inputs)
    then = "keeps it suspended" if call.inputs["suspend"] else f"starts it again{_training(call)}"
    return f"it failed{f' ({why})' if why else ''}: `pulumi up` {then}"


def of_suspension(call: Call) -> str:
    if call.inputs["suspend"]:
        return "suspended in place: its pods are ended, its checkpoints are kept"
    return f"goes on in place{_training(call)}"


def of_edit(call: Call, found: Look) -> str | None:
    """What someone else did to the TFJob; None where nobody did anything that can be told."""
    seen, edit = found.seen, found.edit
    if state_of(seen) in FINISHED:
        return None
    if seen.suspend != call.inputs["suspend"]:
        what = "suspended" if seen.suspend else "resumed"
    elif edit is not None:
        more = len(edit.fields) - _FIELDS
        named = ", ".join(edit.fields[:_FIELDS]) + (f" and {more} more" if more > 0 else "")
        what = f"changed ({named})"
    else:
        return None
    by = f" by {', '.join(edit.managers)}" if edit is not None else ""
    return (
        f"its TFJob was {what} in the cluster{by}: `pulumi refresh`, then `pulumi up`, puts it back"
    )


def _why_failed(inputs: Properties) -> str:
    if not is_known(inputs):
        return ""
    try:
        cluster = opened(inputs)
        seen = observe(cluster, inputs["namespace"], inputs["name"])
        return failure_line(cluster, seen, Masks(cluster, inputs["namespace"]))
    except (ClusterError, ProviderError):
        return ""


def _training(call: Call) -> str:
    # Of a program that is not the runtime's we do not know what it does with its checkpoints.
    if "program" not in call.inputs:
        return ""
    return f"; training {resumption(call.inputs, call.inputs, _Log())}"


class _Log:
    """How far a job has come, by what its chief has written."""

    def progress(self, inputs: Properties) -> JobProgress | None:
        if not is_known(inputs):
            return None
        try:
            return job_progress(opened(inputs), inputs["namespace"], inputs["name"])
        except (ClusterError, ProviderError):
            return None

    def checkpoint(self, inputs: Properties) -> int | None:
        """The shared directory is the cluster's."""
        return None
