"""This machine as the place where a stack runs: its directories, and nothing undeclared."""

from collections.abc import Iterator
from pathlib import Path

from provider import place
from provider.kinds import Call, Change, Properties
from supervisor import client


class Machine:
    """Afterwards the directories of the stack exist and only declared jobs and services run.

    An engine that was killed while it created a job never recorded it. Such a job is found here,
    by its supervisor, and stopped when it is no longer declared or when the stack is destroyed.
    """

    def identify(self, inputs: Properties) -> str:
        return str(inputs["stateDirectory"])

    def compare(self, call: Call) -> Change:
        old, new = call.old_inputs, call.inputs
        moved = tuple(key for key in ("stateDirectory", "storage") if old.get(key) != new[key])
        strays = list(_strays(new))
        return Change(
            updates=moved,
            drift=("undeclared",) if strays else (),
            notes=tuple(f"stops {path.name}, which is no longer declared" for path in strays),
        )

    def create(self, call: Call) -> Properties:
        place.make_directory(place.state_directory(call.inputs), mode=0o700)
        place.make_directory(place.storage_root(call.inputs))
        for path in _strays(call.inputs):
            client.stop(path)
        return {key: call.inputs[key] for key in ("stateDirectory", "storage")}

    def read(self, call: Call) -> Properties | None:
        return call.outputs

    def update(self, call: Call) -> Properties:
        return self.create(call)

    def delete(self, call: Call) -> None:
        for path in _supervised(call.inputs):
            client.stop(path)


def _supervised(inputs: Properties) -> Iterator[Path]:
    state = place.state_directory(inputs)
    yield from sorted(path for path in state.glob("*/*") if (path / "lock").exists())


def _strays(inputs: Properties) -> Iterator[Path]:
    declared = {place.job_state(inputs, name) for name in inputs["jobs"]}
    declared |= {place.service_state(inputs, name) for name in inputs["services"]}
    for path in _supervised(inputs):
        if path not in declared and client.alive(path):
            yield path
