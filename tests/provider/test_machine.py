"""A state directory belongs to one stack of one backend."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provider import place
from provider.kinds import Call, ProviderError
from provider.machine import Machine
from supervisor import client
from supervisor.spec import Replica, Spec


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The state directory of a job that runs, undeclared."""
    monkeypatch.setattr(place, "PROJECT", tmp_path)
    state = tmp_path / ".state/jobs/left"
    sleeps = Replica(role="chief", index=0, command=["sleep", "1000"])
    spec = Spec(kind="job", name="left", generation="g", working_directory="/", replicas=[sleeps])
    client.launch(spec, {}, state)
    yield state
    client.stop(state, 0)


def inputs(owner: str) -> dict[str, Any]:
    empty: list[str] = []
    place = {"stateDirectory": ".state", "storage": "data"}
    return {**place, "jobs": empty, "services": empty, "owner": owner}


def test_what_runs_for_another_backends_stack_is_not_stopped(running: Path) -> None:
    (running.parents[1] / "owner").write_text("someone/ack-training\n")
    with pytest.raises(ProviderError, match=r"left of someone/ack-training, a stack of the same"):
        Machine().create(Call(inputs=inputs("organization/ack-training")))
    assert client.alive(running)
    client.stop(running, 0)
    Machine().create(Call(inputs=inputs("organization/ack-training")))
    assert (running.parents[1] / "owner").read_text() == "organization/ack-training\n"


def test_what_is_undeclared_of_the_own_stack_is_stopped(running: Path) -> None:
    (running.parents[1] / "owner").write_text("organization/ack-training\n")
    Machine().create(Call(inputs=inputs("organization/ack-training")))
    assert not client.alive(running)


def test_a_stack_of_an_older_version_learns_its_owner_in_place(running: Path) -> None:
    new = inputs("organization/ack-training")
    old = {key: value for key, value in new.items() if key != "owner"}
    call = Call(inputs=new, old_inputs=old)
    assert Machine().compare(call).updates == ("owner",)
    Machine().update(call)
    assert (running.parents[1] / "owner").exists()
