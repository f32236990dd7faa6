"""Which roles go together, and what strategy they mean."""

from __future__ import annotations

import itertools

import pytest

from config.roles import Role, Strategy, in_order, infer_strategy, replica_name, role_faults

LEGAL: dict[Strategy, list[tuple[int, int, int]]] = {
    # chief, worker, ps; all of them up to five replicas
    "parameterServer": [(1, w, p) for w in range(1, 4) for p in range(1, 4) if w + p <= 4],
    "multiWorkerMirrored": [(0, w, 0) for w in range(1, 6)] + [(1, w, 0) for w in range(5)],
    "none": [(1, 0, 0), (0, 1, 0)],
}


def counts(chief: int, worker: int, ps: int, evaluator: int = 0) -> dict[Role, int]:
    every: dict[Role, int] = {"chief": chief, "worker": worker, "ps": ps, "evaluator": evaluator}
    return {role: count for role, count in every.items() if count}


@pytest.mark.parametrize("strategy", LEGAL)
@pytest.mark.parametrize("evaluator", [0, 1])
def test_each_strategy_takes_its_roles_and_no_others(strategy: Strategy, evaluator: int) -> None:
    accepted = [
        (chief, worker, ps)
        for chief, worker, ps in itertools.product((0, 1), range(6), range(6))
        if chief + worker + ps <= 5
        and not list(role_faults(counts(chief, worker, ps, evaluator), strategy))
    ]
    assert sorted(accepted) == sorted(LEGAL[strategy])


@pytest.mark.parametrize(
    ("roles", "strategy"),
    [
        (counts(1, 1, 1), "parameterServer"),
        (counts(1, 2, 2, 1), "parameterServer"),
        (counts(1, 1, 0), "multiWorkerMirrored"),
        (counts(0, 2, 0, 1), "multiWorkerMirrored"),
        (counts(0, 1, 0, 1), "none"),
        (counts(1, 0, 0), "none"),
    ],
)
def test_without_a_strategy_the_roles_tell_it(roles: dict[Role, int], strategy: Strategy) -> None:
    assert infer_strategy(roles) == strategy
    assert list(role_faults(roles, None)) == []


def test_replicas_are_listed_and_named_in_one_order() -> None:
    listed = in_order({"evaluator": 1, "ps": 2, "worker": 2, "chief": 1})
    assert [replica_name("m", role, index) for role, index in listed] == [
        "m-chief-0",
        "m-worker-0",
        "m-worker-1",
        "m-ps-0",
        "m-ps-1",
        "m-evaluator-0",
    ]
