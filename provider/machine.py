"""This machine as the place where a stack runs: its directories, and nothing undeclared."""

from collections.abc import Iterator
from pathlib import Path

from provider import place
from provider.kinds import Call, Change, Properties, ProviderError
from supervisor import client

_OWNER = "owner"


class Machine:
    """Afterwards the directories of the stack exist and only declared jobs and services run.

    An engine that was killed while it created a job never recorded it. Such a job is found here,
    by its supervisor, and stopped when it is no longer declared or when the stack is destroyed.
    """

    def identify(self, inputs: Properties) -> str:
        return str(inputs["stateDirectory"])

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        old, new = call.old_inputs, call.inputs
        moved = tuple(key for key in ("stateDirectory", "storage") if old.get(key) != new[key])
        moved += ("owner",) if old.get("owner") != new["owner"] else ()
        strays = list(_strays(new))
        return Change(
            updates=moved,
            drift=("undeclared",) if strays else (),
            notes=tuple(f"stops {path.name}, which is no longer declared" for path in strays),
        )

    def create(self, call: Call) -> Properties:
        _refuse_another_stacks(call.inputs)
        return self.update(call)

    def read(self, call: Call) -> Properties | None:
        return call.outputs

    def update(self, call: Call) -> Properties:
        state = place.state_directory(call.inputs)
        place.make_directory(state, mode=0o700)
        (state / _OWNER).write_text(call.inputs["owner"] + "\n", encoding="utf-8")
        place.make_directory(place.storage_root(call.inputs))
        for path in _strays(call.inputs):
            client.stop(path)
        return {key: call.inputs[key] for key in ("stateDirectory", "storage")}

    def delete(self, call: Call) -> None:
        for path in _supervised(call.inputs):
            client.stop(path)


def _refuse_another_stacks(inputs: Properties) -> None:
    """Raises ProviderError when another backend's stack of the same name runs here: to take what
    it runs for undeclared would be to stop it."""
    state = place.state_directory(inputs)
    try:
        owner = (state / _OWNER).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return
    running = [path.name for path in _supervised(inputs) if client.alive(path)]
    if owner != inputs["owner"] and running:
        raise ProviderError(
            f"{', '.join(running)} of {owner}, a stack of the same name in another backend, runs "
            f"in {state}: destroy that stack first, or call this one otherwise"
        )


def _supervised(inputs: Properties) -> Iterator[Path]:
    state = place.state_directory(inputs)
    yield from sorted(path for path in state.glob("*/*") if (path / "lock").exists())


def _strays(inputs: Properties) -> Iterator[Path]:
    declared = {place.job_state(inputs, name) for name in inputs["jobs"]}
    declared |= {place.service_state(inputs, name) for name in inputs["services"]}
    for path in _supervised(inputs):
        if path not in declared and client.alive(path):
            yield path
