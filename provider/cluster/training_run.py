"""A training job on a cluster: its TFJob is another resource, this one is its gate and narrator."""

from dataclasses import replace

from cluster.client import Cluster
from cluster.errors import ClusterError
from cluster.observe import observe
from cluster.seen import JobSeen
from cluster.verdict import state_of
from provider.cluster import sentences, wait
from provider.cluster.opened import is_gone_for_good, is_known, opened
from provider.cluster.restart import forget, restart
from provider.cluster.wait import recorded
from provider.compare import changed_beside
from provider.kinds import Call, Change, NotReady, Properties, ProviderError

_PLACE = ("name", "namespace")

_OTHER_JOB = {"generation", "secret"}
"""Inputs that tell that the job is another one: what its TFJob says, but for its Secret's name."""

_FOLLOWING = ("uid", "secretVariables", "storage")
"""Inputs that are no change of the job, unless with one that is. `uid`: see _is_another."""

_GOALS = {
    "submitted": "is there",
    "running": "runs",
    "succeeded": "has succeeded",
}

_GONE = ("Absent", "Unknown")
_SHORT_OF = {
    "submitted": _GONE,
    "running": (*_GONE, "Created", "Suspended"),
    "succeeded": (*_GONE, "Created", "Running", "Restarting", "Suspended"),
}
"""Of each `wait`, the recorded states that do not satisfy it."""


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
        every = changed_beside(call.old_inputs, call.inputs, ("connection",))
        changed = [path for path in every if not path.startswith(_FOLLOWING)]
        replaces = tuple(path for path in changed if path in _PLACE)
        updates = tuple(path for path in changed if path not in replaces)
        state = call.outputs.get("state")
        if replaces:
            return Change(updates=updates, replaces=replaces)
        if _OTHER_JOB & set(updates):
            return Change(updates=updates, notes=(sentences.of_replacement(call, every),))
        if "suspend" in updates and state != "Succeeded":
            return Change(updates=updates, notes=(sentences.of_suspension(call),))
        if _is_another(call):
            return Change(updates=(*updates, "uid"), notes=_of_another(call))
        return self._since(call, updates)

    def introduction(self, call: Call) -> list[str]:
        # Here and not above: of a job that is there the quantities need not be understood.
        from provider.cluster.introduction import introduction

        return [introduction(call.inputs)]

    def create(self, call: Call) -> Properties:
        known = {"state": "Unknown", **call.outputs}
        try:
            cluster = opened(call.inputs)
            restart(cluster, call, known)
            return recorded(_await(call, cluster))
        except ClusterError as error:
            # The TFJob is declared, and what becomes of it is this resource's to tell.
            raise NotReady([f"{call.inputs['name']}: {error}"], known) from error

    def read(self, call: Call) -> Properties | None:
        if not is_known(call.inputs):
            return call.outputs
        inputs = call.inputs
        try:
            seen = observe(opened(inputs), inputs["namespace"], inputs["name"])
        except ClusterError as error:
            raise ProviderError(f"{inputs['name']}: {error}") from error
        state = state_of(seen)
        if state == "Absent" and call.outputs.get("state") == "Succeeded":
            return call.outputs
        # Its uid stays that of the one that was waited for.
        return {**call.outputs, "state": state}

    def update(self, call: Call) -> Properties:
        same = all(call.inputs.get(key) == call.old_inputs.get(key) for key in _OTHER_JOB)
        if not same or _is_another(call):
            # What is recorded is of the job before: should the cluster be away now, the next `up`
            # is not to take it for this one's.
            return self.create(replace(call, outputs={**call.outputs, "state": "Unknown"}))
        return call.outputs if call.outputs.get("state") == "Succeeded" else self.create(call)

    def delete(self, call: Call) -> None:
        """The TFJob is deleted as the resource that it is; what a restart left is deleted here."""
        if is_gone_for_good():
            return
        # The engine asks no provider in a preview about what it will delete.
        call.announce(f"its TFJob is deleted; its directory {call.inputs['directory']} stays")
        try:
            forget(opened(call.inputs), call.inputs["namespace"], call.inputs["name"])
        except ClusterError as error:
            raise ProviderError(f"{call.inputs['name']}: {error}") from error

    def _since(self, call: Call, updates: tuple[str, ...]) -> Change:
        """What happened to the job since it was recorded."""
        state, found = call.outputs.get("state"), None
        if state != "Succeeded":
            found = sentences.look(call.inputs)
            drift = _drift(call, found)
            if drift is not None:
                return Change(updates=updates, drift=("state",), notes=(drift,))
        edit = None if found is None else sentences.of_edit(call, found)
        # What of the TFJob is not as it was declared, its own resource mends.
        return Change(updates=updates, notes=() if edit is None else (edit,))


def _drift(call: Call, found: sentences.Look | None) -> str | None:
    """What must be mended; else None."""
    recorded = call.outputs.get("state")
    if found is not None and found.interrupted:
        return "it was interrupted while it was started again: `pulumi up` goes on"
    if found is None and not is_known(call.inputs):
        return None
    state = recorded or "Unknown" if found is None else state_of(found.seen)
    if state == "Absent":
        again = "`pulumi up`" if recorded == "Absent" else "`pulumi refresh`, then `pulumi up`,"
        return f"its TFJob is gone: {again} creates it again"
    if state == "Failed":
        return sentences.of_failure(call)
    short = _SHORT_OF[call.inputs["wait"]]
    if not call.inputs["suspend"] and recorded in short:
        if state == "Succeeded":
            return "it has succeeded since"
        if state not in short:
            return f"it is {state} by now"
        return f"it is {state}: `pulumi up` waits until it {_goal(call)}"
    return None


def _is_another(call: Call) -> bool:
    """Whether the TFJob is, or will be, another object than the one that was waited for: someone
    deleted that one. One that we have started again was waited for, and a refresh finds its uid."""
    new, old = call.inputs.get("uid"), call.old_inputs.get("uid")
    return bool(old) and new not in (old, call.outputs.get("uid"))


def _of_another(call: Call) -> tuple[str, ...]:
    found = sentences.look(call.inputs)
    if found is not None and found.seen.uid == call.old_inputs.get("uid"):
        # It is there. The engine, before it replaces a TFJob, asks what depends on its uid.
        return ()
    return (f"its TFJob is created again: `pulumi up` waits until it {_goal(call)}",)


def _goal(call: Call) -> str:
    return "is suspended" if call.inputs["suspend"] else _GOALS[call.inputs["wait"]]


def _await(call: Call, cluster: Cluster) -> JobSeen:
    if call.inputs["suspend"]:
        return wait.until_suspended(call, cluster)
    match call.inputs["wait"]:
        case "running":
            return wait.until_running(call, cluster)
        case "succeeded":
            return wait.until_succeeded(call, cluster)
        case _:
            return observe(cluster, call.inputs["namespace"], call.inputs["name"])
