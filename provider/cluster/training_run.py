"""A training job on a cluster: its TFJob is another resource, this one is its gate and narrator."""

from cluster.api_objects import job_seen
from cluster.client import Cluster
from cluster.errors import ClusterError
from cluster.observe import job_progress, observe, read_job
from cluster.seen import JobSeen
from cluster.verdict import state_of
from provider.cluster import wait
from provider.cluster.opened import is_gone_for_good, is_known, opened
from provider.cluster.restart import forget, is_interrupted, restart
from provider.compare import changed_paths
from provider.consequence import replacement, resumption
from provider.kinds import Call, Change, NotReady, Properties, ProviderError
from supervisor.job_progress import JobProgress

_PLACE = ("name", "namespace")

_NOT_OF_THE_JOB = (
    "suspend",
    "wait",
    "waitTimeoutSeconds",
    "server",
    "generation",
    "autoscaled",
    "operatorNamespace",
)
"""Inputs that no sentence on a changed job names. Whether the job changed tells `generation`."""

_GOALS = {"running": "runs", "succeeded": "has succeeded"}

_SHORT_OF = {
    "submitted": (),
    "running": ("Created",),
    "succeeded": ("Created", "Running", "Restarting", "Suspended"),
}
"""Of each `wait`, the recorded states that do not satisfy it."""

_LIVE = ("Created", "Running", "Restarting")


class TrainingRun:
    """Afterwards the job has come as far as `wait` asks: submitted, running, or succeeded.

    A job that has failed is started again by the next `up`, as is one whose pods are older than its
    TFJob. What this finds undone of an interrupted `up` it does.
    """

    def identify(self, inputs: Properties) -> str:
        return f"{inputs['namespace']}/{inputs['name']}"

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        # Where the kubeconfig lies is of this machine: another one is no change of the job.
        changed = tuple(
            path
            for path in changed_paths(call.old_inputs, call.inputs)
            if not path.startswith("connection")
        )
        replaces = tuple(path for path in changed if path in _PLACE)
        updates = tuple(path for path in changed if path not in replaces)
        state = call.outputs.get("state")
        if replaces:
            return Change(updates=updates, replaces=replaces)
        if "generation" in updates:
            return Change(updates=updates, notes=(_replacement(call, updates),))
        if "suspend" in updates and state != "Succeeded":
            return Change(updates=updates, notes=(_suspension(call),))
        drift = self._drift(call)
        notes = () if drift is None else (drift,)
        return Change(updates=updates, drift=("state",) if drift else (), notes=notes)

    def create(self, call: Call) -> Properties:
        try:
            cluster = opened(call.inputs)
            restart(cluster, call, {"state": call.outputs.get("state", "Unknown")})
            return {"state": _await(call, cluster)}
        except ClusterError as error:
            # The TFJob is declared, and what becomes of it is this resource's to tell.
            raise NotReady(
                [f"{call.inputs['name']}: {error}"], {"state": call.outputs.get("state", "Unknown")}
            ) from error

    def read(self, call: Call) -> Properties | None:
        recorded = call.outputs.get("state")
        if not is_known(call.inputs):
            return call.outputs
        inputs = call.inputs
        try:
            seen = observe(opened(inputs), inputs["namespace"], inputs["name"])
        except ClusterError as error:
            raise ProviderError(f"{inputs['name']}: {error}") from error
        state = state_of(seen)
        if state == "Absent" and recorded == "Succeeded":
            return call.outputs
        return {**call.outputs, "state": state}

    def update(self, call: Call) -> Properties:
        same = call.inputs.get("generation") == call.old_inputs.get("generation")
        if same and call.outputs.get("state") == "Succeeded":
            return call.outputs
        return self.create(call)

    def delete(self, call: Call) -> None:
        """The TFJob is deleted as the resource that it is; what a restart left is deleted here."""
        if is_gone_for_good():
            return
        try:
            forget(opened(call.inputs), call.inputs["namespace"], call.inputs["name"])
        except ClusterError as error:
            raise ProviderError(f"{call.inputs['name']}: {error}") from error

    def _drift(self, call: Call) -> str | None:
        """What happened to the job since it was recorded, where that must be mended; else None."""
        recorded = call.outputs.get("state")
        if recorded == "Succeeded" or not is_known(call.inputs):
            return None
        seen, interrupted = _look(call.inputs)
        state = recorded or "Unknown" if seen is None else state_of(seen)
        if interrupted:
            return "it was interrupted while it was started again: `pulumi up` goes on"
        if state == "Absent":
            again = "`pulumi up`" if recorded == "Absent" else "`pulumi refresh`, then `pulumi up`,"
            return f"its TFJob is gone: {again} creates it again"
        if state == "Failed":
            return f"it failed: `pulumi up` {_next_start(call)}"
        wait_for = call.inputs["wait"]
        if not call.inputs["suspend"] and recorded in _SHORT_OF[wait_for]:
            if state == "Succeeded":
                return "it has succeeded since"
            return f"it is {state}: `pulumi up` waits until it {_GOALS[wait_for]}"
        return None


def _await(call: Call, cluster: Cluster) -> str:
    if call.inputs["suspend"]:
        return wait.until_suspended(call, cluster)
    match call.inputs["wait"]:
        case "running":
            return wait.until_running(call, cluster)
        case "succeeded":
            return wait.until_succeeded(call, cluster)
        case _:
            return state_of(observe(cluster, call.inputs["namespace"], call.inputs["name"]))


def _look(inputs: Properties) -> tuple[JobSeen | None, bool]:
    """The TFJob as it is now, and whether a restart of it was interrupted. None where the cluster
    does not tell: a preview is not to fail for that."""
    namespace, name = inputs["namespace"], inputs["name"]
    try:
        cluster = opened(inputs)
        job = read_job(cluster, namespace, name)
        if job is None:
            return JobSeen(name, namespace), is_interrupted(cluster, namespace, name)
        return job_seen(job, (), ()), False
    except (ClusterError, ProviderError):
        return None, False


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


def _replacement(call: Call, paths: tuple[str, ...]) -> str:
    seen = _look(call.inputs)[0] if is_known(call.inputs) else None
    told = [path for path in paths if path not in _NOT_OF_THE_JOB]
    state = call.outputs.get("state") if seen is None else state_of(seen)
    again = f"{'the running job is ' if state in _LIVE else ''}deleted and created again"
    if seen is not None and seen.uid and seen.generation == call.inputs["generation"]:
        # By this very `up`, or by one that was interrupted then.
        again = "was deleted and created again"
    return replacement(call, told, _Log(), again)


def _next_start(call: Call) -> str:
    if call.inputs["suspend"]:
        return "keeps it suspended"
    return "starts it again" + _training(call.inputs)


def _suspension(call: Call) -> str:
    if call.inputs["suspend"]:
        return "suspended in place: its pods are ended, its checkpoints are kept"
    return "goes on in place" + _training(call.inputs)


def _training(inputs: Properties) -> str:
    # Of a program that is not the runtime's we do not know what it does with its checkpoints.
    if "program" not in inputs:
        return ""
    return f"; training {resumption(inputs, inputs, _Log())}"
