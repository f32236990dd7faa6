"""A training job of this machine: a process each replica, under a supervisor that follows TFJob."""

import shutil
from pathlib import Path

from provider import claims, place, wait
from provider.compare import changed_paths
from provider.consequence import replacement, resumption
from provider.identity import IN_PLACE, job_generation
from provider.kinds import Call, Change, NotReady, Properties
from provider.ports import free_ports
from supervisor import client

_ENDED = ("Absent", "Lost", "Stopped", "Failed")
"""States in which an `up` starts the job again."""

_GOALS = {"running": "runs", "succeeded": "has succeeded"}

_RENAMED = ("stateDirectory",)

_SHORT_OF = {
    "submitted": (),
    "running": ("Created",),
    "succeeded": ("Created", "Running", "Restarting", "Suspended"),
}
"""Of each `wait`, the recorded states that do not satisfy it: an `up` that was interrupted, or that
a refresh wrote over, is not done."""


class Job:
    """Afterwards the job has come as far as `wait` asks: submitted, running, or succeeded."""

    def identify(self, inputs: Properties) -> str:
        return str(inputs["name"])

    def refusals(self, call: Call) -> list[str]:
        states = [place.job_state(inputs) for inputs in (call.inputs, call.old_inputs) if inputs]
        refused = claims.refusal(place.job_directory(call.inputs), *states)
        return [refused] if refused else []

    def compare(self, call: Call) -> Change:
        changed = tuple(changed_paths(call.old_inputs, call.inputs))
        replaces = tuple(path for path in changed if path not in IN_PLACE)
        if replaces == _RENAMED and call.outputs.get("state") == "Succeeded":
            # The stack has another name: no reason to run what is done.
            return Change(updates=replaces)
        if replaces:
            return Change(replaces=replaces, notes=(replacement(call, replaces),))
        updates = tuple(path for path in changed if path in IN_PLACE)
        if "suspend" in updates and call.outputs.get("state") != "Succeeded":
            return Change(updates=updates, notes=(_suspension(call.inputs),))
        drift = self._drift(call)
        notes = () if drift is None else (drift,)
        return Change(updates=updates, drift=("state",) if drift else (), notes=notes)

    def create(self, call: Call) -> Properties:
        state = place.job_state(call.inputs)
        if self._must_start(call, state):
            self._start(call, state)
        elif client.observe(state).state != "Succeeded":
            (client.suspend if call.inputs["suspend"] else client.resume)(state)
        return self._await(call, state)

    def read(self, call: Call) -> Properties | None:
        seen = client.observe(place.job_state(call.inputs)).state
        recorded = call.outputs.get("state")
        if seen == "Absent" and recorded == "Succeeded":
            return call.outputs
        return {**call.outputs, "state": seen}

    def update(self, call: Call) -> Properties:
        if call.inputs["stateDirectory"] != call.old_inputs.get("stateDirectory"):
            claims.leave(place.job_directory(call.old_inputs), place.job_state(call.old_inputs))
            claims.take(place.job_directory(call.inputs), place.job_state(call.inputs), call.report)
        if call.outputs.get("state") == "Succeeded" and self._drift(call) is None:
            if call.inputs.get("server") != call.old_inputs.get("server"):
                _until_served(call)
            return call.outputs
        return self.create(call)

    def delete(self, call: Call) -> None:
        state = place.job_state(call.inputs)
        client.stop(state)
        claims.leave(place.job_directory(call.inputs), state)
        # Without it a job of the same name starts as a new one; logs are kept.
        (state / "status.json").unlink(missing_ok=True)

    def _drift(self, call: Call) -> str | None:
        """What happened to the job since it was recorded, where that must be mended; else None."""
        seen = client.observe(place.job_state(call.inputs))
        if seen.state == "Absent" and call.outputs.get("state") == "Succeeded":
            return None
        if seen.state in ("Lost", "Absent", "Stopped"):
            return f"its processes are gone: `pulumi up` {_next_start(call.inputs)}"
        if seen.state == "Failed":
            return f"it failed: `pulumi up` {_next_start(call.inputs)}"
        wait_for = call.inputs["wait"]
        if not call.inputs["suspend"] and call.outputs.get("state") in _SHORT_OF[wait_for]:
            if seen.state == "Succeeded":
                return "it has succeeded since"
            return f"it is {seen.state}: `pulumi up` waits until it {_GOALS[wait_for]}"
        return None

    def _must_start(self, call: Call, state: Path) -> bool:
        """False when this very job already runs or has succeeded: an interrupted `up` goes on."""
        seen = client.observe(state)
        same = seen.status is not None and seen.status.generation == job_generation(call.inputs)
        return not same or seen.state in _ENDED

    def _start(self, call: Call, state: Path) -> None:
        # Here and not above: a preview starts nothing, and need not load the schema for it.
        from provider.job_spec import job_spec

        client.stop(state)
        shutil.rmtree(state / "progress", ignore_errors=True)
        # Before the directory is marked: this refuses one that leads outside the shared directory.
        spec = job_spec(call.inputs, state, free_ports)
        claims.take(place.job_directory(call.inputs), state, call.report)
        client.launch(spec, call.inputs.get("secretEnvironment", {}), state)

    def _await(self, call: Call, state: Path) -> Properties:
        outputs = {
            "state": "Running",
            "directory": f"{call.inputs['storage']}/{call.inputs['directory']}",
            "logs": f"{call.inputs['stateDirectory']}/jobs/{call.inputs['name']}/logs",
        }
        seconds = call.inputs.get("waitTimeoutSeconds")
        if call.inputs["suspend"]:
            # A job that had finished stays so.
            return {**outputs, "state": client.observe(state).state}
        try:
            match call.inputs["wait"]:
                case "running":
                    wait.until_running(call, state, outputs, seconds)
                case "succeeded":
                    wait.until_succeeded(call, state, outputs, seconds)
                    _until_served(call)
                    # Last, so that it is what stays beside the job.
                    wait.tell_result(call, state)
        except NotReady as error:
            seen = client.observe(state).state
            raise NotReady(error.reasons, {**outputs, "state": seen}) from error
        return {**outputs, "state": client.observe(state).state}


def _until_served(call: Call) -> None:
    # Here and not above: a preview asks no server, and need not load an HTTP client.
    from provider.serving import until_served

    until_served(call)


def _next_start(inputs: Properties) -> str:
    if inputs["suspend"]:
        return "keeps it suspended"
    return "starts it again" + _training(inputs)


def _suspension(inputs: Properties) -> str:
    if inputs["suspend"]:
        return "suspended in place: its replicas are stopped, its checkpoints are kept"
    return "goes on in place" + _training(inputs)


def _training(inputs: Properties) -> str:
    # Of a program that is not the runtime's we do not know what it does with its checkpoints.
    return f"; training {resumption(inputs, inputs)}" if "program" in inputs else ""
