"""What later layers read from a stack."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pydantic
import pytest

from config import ConfigErrors, Job, parse
from config.quantities import Cpu, Memory


def job(**settings: Any) -> Job:
    return parse({"jobs": {"m": {"program": "a.py", **settings}}}).jobs["m"]


def test_a_job_lists_its_replicas() -> None:
    found = job(evaluator={}, ps={"replicas": 2}, worker={"replicas": 2}, chief={})
    assert found.total == 6
    assert found.counts == {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1}
    assert found.replicas() == [
        ("chief", 0),
        ("worker", 0),
        ("worker", 1),
        ("ps", 0),
        ("ps", 1),
        ("evaluator", 0),
    ]


def test_master_is_the_chief() -> None:
    found = job(master={"cpu": "500m"}, worker={})
    assert found.chief is not None
    assert found.chief.cpu == Cpu(500)
    assert found.counts == {"chief": 1, "worker": 1}
    assert found.strategy == "multiWorkerMirrored"


def test_notices() -> None:
    settings = {"program": "a.py", "master": {}, "worker": {}, "successPolicy": "AllWorkers"}
    assert parse({"jobs": {"m": settings}}).notices == (
        "ack-training:jobs.m.master: read as chief, its name since TF 2",
        "ack-training:jobs.m.successPolicy: has no effect, as the chief decides",
    )


def test_defaults() -> None:
    found = job(worker={})
    worker = found.roles["worker"]
    assert (found.name, found.directory, found.run) == ("m", "m", 1)
    assert (found.clean_pod_policy, worker.restart_policy) == ("Running", "ExitCode")
    assert (found.wait, found.deadline, found.backoff_limit) == (None, None, None)
    assert found.start_timeout == timedelta(minutes=5)
    assert found.export is None and found.serve is None


def test_what_is_written_in_many_ways_is_read_in_one() -> None:
    found = job(program="./x//a.py", worker={"memory": "1024Mi"}, directory="./a//b/", export=None)
    assert (found.program, found.directory) == ("x/a.py", "a/b")
    assert found.roles["worker"].memory == Memory(1024**3)
    assert found.export is not None
    prefixes = ["", "/", "tb", "tb/", "/tb", "//tb//x/"]
    assert [
        parse({"tensorboard": {"pathPrefix": prefix}}).tensorboard.path_prefix
        for prefix in prefixes
    ] == ["", "", "/tb", "/tb", "/tb", "/tb/x"]


def test_a_stack_cannot_be_changed() -> None:
    found = job(worker={})
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        found.suspend = True


def test_names_take_the_digits_of_the_last_index_into_account() -> None:
    name = "m" * (63 - len("-worker-9"))
    settings = {"program": "a.py", "worker": {"replicas": 10}}
    assert parse({"jobs": {name: settings}}).jobs[name].total == 10
    with pytest.raises(Exception, match="at most 53 characters"):
        parse({"jobs": {name: {**settings, "worker": {"replicas": 11}}}})


def test_a_list_of_wrong_items_is_not_called_empty_as_well() -> None:
    job = {"image": "x", "command": [1, None], "worker": {}}
    with pytest.raises(ConfigErrors) as refused:
        parse({"target": "local", "jobs": {"m": job}})
    assert refused.value.lines == [
        "ack-training:jobs.m.command[0]: must be a string, got 1; put it in quotes",
        "ack-training:jobs.m.command[1]: must be a string, got nothing",
    ]


NEVER_ENDS = "restartPolicy: Always starts it again also after it has succeeded"


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ({"chief": {"restartPolicy": "Always"}}, ["chief"]),
        ({"worker": {"restartPolicy": "Always"}}, ["worker"]),
        ({"chief": {}, "worker": {"restartPolicy": "Always"}}, []),
        ({"chief": {"restartPolicy": "OnFailure"}}, []),
    ],
)
def test_a_job_that_cannot_end_is_noticed(roles: dict[str, Any], told: list[str]) -> None:
    stack = parse({"jobs": {"m": {"program": "a.py", **roles}}})
    found = [line for line in stack.notices if NEVER_ENDS in line]
    assert found == [
        f"ack-training:jobs.m.{role}.{NEVER_ENDS}, so the job never ends by itself" for role in told
    ]
