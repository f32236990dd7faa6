"""Every combination of strategy and roles with up to 5 replicas: trained, or refused."""

from itertools import product
from typing import Any, NamedTuple

import pytest

from config import ConfigErrors
from config.parse import parse
from tests.engine.test_life import BARE
from tests.engine.training_jobs import result, status
from tests.engine.workspace import Workspace

STEPS = 12
MOST = 5
ROLES = ("chief", "worker", "ps", "evaluator")
STRATEGIES = (None, "parameterServer", "multiWorkerMirrored", "none")


class Combination(NamedTuple):
    """Counts by role, and the strategy as declared."""

    chief: int
    worker: int
    ps: int
    evaluator: int
    strategy: str | None

    @property
    def name(self) -> str:
        counts = "".join(f"{role[0]}{getattr(self, role)}" for role in ROLES)
        return f"{counts}-{self.strategy or 'inferred'}".lower()

    def job(self) -> dict[str, Any]:
        roles = {role: {"replicas": getattr(self, role)} for role in ROLES if getattr(self, role)}
        declared = {} if self.strategy is None else {"strategy": self.strategy}
        return {
            "program": "training/programs/tabular.py",
            "args": [f"--steps={STEPS}", "--checkpoint-every=6", "--log-every=6", "--rows=600"],
            **roles,
            **declared,
        }


EVERY = [
    Combination(chief, worker, ps, evaluator, strategy)
    for chief, worker, ps, evaluator in product(range(MOST + 1), repeat=len(ROLES))
    if chief + worker + ps + evaluator <= MOST
    for strategy in STRATEGIES
]


def legal(it: Combination) -> bool:
    """TensorFlow's and the operator's rules, written down once more and apart from config/."""
    trains = it.chief + it.worker
    if it.chief > 1 or it.evaluator > 1 or not trains:
        return False
    if it.ps:
        served = it.chief == 1 and it.worker >= 1
        return served and it.strategy in (None, "parameterServer")
    if trains == 1:
        return it.strategy in (None, "none", "multiWorkerMirrored")
    return it.strategy in (None, "multiWorkerMirrored")


def accepted(it: Combination) -> bool:
    try:
        parse({"jobs": {it.name: it.job()}})
    except ConfigErrors:
        return False
    return True


def test_exactly_the_legal_combinations_are_accepted() -> None:
    assert {it for it in EVERY if accepted(it)} == {it for it in EVERY if legal(it)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_illegal_combination_is_refused_with_a_line_that_names_its_job(
    strategy: str | None,
) -> None:
    for it in EVERY:
        if it.strategy != strategy or legal(it):
            continue
        with pytest.raises(ConfigErrors) as refused:
            parse({"jobs": {it.name: it.job()}})
        for line in refused.value.lines:
            assert line.startswith(f"ack-training:jobs.{it.name}")
            assert "\n" not in line


@pytest.mark.tensorflow
@pytest.mark.parametrize("evaluator", [0, 1])
@pytest.mark.parametrize("strategy", ["parameterServer", "multiWorkerMirrored", "none"])
def test_every_legal_combination_trains_to_its_last_step(
    workspace: Workspace, strategy: str, evaluator: int
) -> None:
    chosen = [it for it in EVERY if legal(it) and it[3:] == (evaluator, strategy)]
    assert chosen
    workspace.configure({**BARE, "jobs": {it.name: it.job() for it in chosen}})
    # Two at a time: more replicas than that would only wait for one another.
    up = workspace.up("--parallel=2")
    assert up.code == 0, up
    states = {name: job["state"] for name, job in workspace.outputs()["jobs"].items()}
    assert states == {it.name: "Succeeded" for it in chosen}
    for it in chosen:
        assert result(workspace, it.name)["step"] >= STEPS
        assert len(status(workspace, it.name).replicas) == sum(it[:4])
        logs = workspace.path / "data" / it.name / "logs"
        writers = {path.name for path in logs.iterdir()}
        leader = "chief" if it.chief else "worker" if it.worker == 1 else "worker-0"
        assert writers == ({leader, "evaluator"} if evaluator else {leader})
