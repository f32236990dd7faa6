"""A long-running program of this machine, such as TensorBoard: kept alive by a supervisor."""

import sys
from pathlib import Path
from typing import NoReturn

from provider import model_server, place, wait
from provider.compare import changed_paths
from provider.identity import digest
from provider.kinds import Call, Change, NotReady, Properties, ProviderError
from provider.ports import claim, free_ports, is_free, release
from supervisor import client
from supervisor.spec import Health, Replica, RunPolicy, Spec

_PLACE = ("name", "stateDirectory")


class Service:
    """Afterwards the program answers on `url`. A dead one is started by the next `up` or `refresh`,
    on the port it had, unless another program took that port meanwhile."""

    def identify(self, inputs: Properties) -> str:
        return str(inputs["name"])

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        changed = tuple(changed_paths(call.old_inputs, call.inputs))
        replaces = tuple(path for path in changed if path in _PLACE)
        dead = not client.alive(place.service_state(call.inputs))
        return Change(
            updates=tuple(path for path in changed if path not in replaces),
            replaces=replaces,
            drift=("url",) if dead else (),
            notes=("does not run: it is started again",) if dead else (),
        )

    def create(self, call: Call) -> Properties:
        state = place.service_state(call.inputs)
        if client.alive(state):
            if digest(call.inputs) == _generation(state)[0]:
                return self._await(call, port_of(state))
            # Before the one that runs is stopped: a port that cannot be had must not cost it.
            _refuse_taken_port(call.inputs, own=port_of(state))
            client.stop(state)
            release(port_of(state))
        port = _choose_port(call, state)
        client.launch(_spec(call.inputs, port), {}, state)
        return self._await(call, port)

    def read(self, call: Call) -> Properties | None:
        if client.alive(place.service_state(call.inputs)):
            return call.outputs
        try:
            return self.create(call)
        except (ProviderError, client.SupervisorError) as error:
            # A port that is gone must not keep a refresh from the rest of the stack.
            raise NotReady([str(error)], call.outputs) from error

    def update(self, call: Call) -> Properties:
        return self.create(call)

    def delete(self, call: Call) -> None:
        state = place.service_state(call.inputs)
        client.stop(state)
        # Without it `make watch` no longer shows the service; logs are kept.
        (state / "status.json").unlink(missing_ok=True)

    def _await(self, call: Call, port: int) -> Properties:
        outputs = {"port": port, "url": f"http://127.0.0.1:{port}{call.inputs['urlPath']}"}
        wait.until_healthy(call, place.service_state(call.inputs), outputs)
        return outputs


def _refuse_taken_port(inputs: Properties, own: int) -> None:
    """Raises ProviderError when the required port is another program's; `own` is what it has."""
    required = inputs.get("requiredPort")
    if required not in (None, own) and not is_free(required):
        _refuse_port(inputs)


def _refuse_port(inputs: Properties) -> NoReturn:
    raise ProviderError(
        f"port {inputs['requiredPort']} for {inputs['name']} is taken by another program: "
        f"stop that one or set another {inputs['portKey']}"
    )


def _choose_port(call: Call, state: Path) -> int:
    """The required port, else the one it had, else the preferred one, else any that is free."""
    required = call.inputs.get("requiredPort")
    if required is not None:
        if not claim(required):
            _refuse_port(call.inputs)
        return int(required)
    preferred = int(call.inputs["preferredPort"])
    for port in (port_of(state), preferred):
        if port and claim(port):
            return port
    (other,) = free_ports(1)
    call.announce(f"port {preferred} is taken by another program: {other} is used instead")
    return other


def _spec(inputs: Properties, port: int) -> Spec:
    words = {
        "{python}": sys.executable,
        "{port}": str(port),
        "{storage}": str(place.storage_root(inputs)),
        "{free_port}": str(free_ports(1)[0]),
    }
    command, health = list(inputs["command"]), str(inputs["healthUrl"])
    if command[0] == model_server.PLACEHOLDER:
        command, health = model_server.chosen(command, health, inputs["urlPath"])
    command = [_fill(word, words) for word in command]
    timeout = inputs["startTimeoutSeconds"]
    return Spec(
        kind="service",
        name=inputs["name"],
        generation=f"{digest(inputs)}:{port}",
        working_directory=str(place.PROJECT),
        replicas=[
            Replica(
                role="service",
                index=0,
                command=command,
                environment={"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(place.PROJECT)},
                restart_policy="Always",
            )
        ],
        run_policy=RunPolicy(),
        health=Health(url=_fill(health, words), start_timeout_seconds=timeout),
    )


def _fill(text: str, words: dict[str, str]) -> str:
    for placeholder, value in words.items():
        text = text.replace(placeholder, value)
    return text


def _generation(state: Path) -> tuple[str, str]:
    """Digest of the inputs, and port, of what was last started here; empty when nothing was."""
    status = client.read_status(state)
    digest_of_inputs, _, port = ("" if status is None else status.generation).rpartition(":")
    return digest_of_inputs, port


def port_of(state: Path) -> int:
    """The port of what was last started in `state`; 0 when nothing was."""
    port = _generation(state)[1]
    return int(port) if port.isdigit() else 0
