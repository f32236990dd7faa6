"""Several processes: both ways to train together, what they leave, and how they end."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.training.programs.conftest import StartJob
from tests.training.programs.replica_processes import PROGRAMS, ReplicaProcesses

pytestmark = pytest.mark.tensorflow

TABULAR = PROGRAMS / "tabular.py"
FEW_STEPS = ["--steps=60", "--checkpoint-every=20", "--log-every=20"]
ENDLESS = ["--steps=1000000", "--checkpoint-every=20", "--log-every=20"]

STREAMED = Path(__file__).with_name("streamed.py")

CLUSTERS = [
    ({"chief": 1, "worker": 1, "ps": 2, "evaluator": 1}, TABULAR),
    ({"master": 1, "worker": 1, "ps": 1}, STREAMED),
    ({"chief": 1, "worker": 1, "evaluator": 1}, STREAMED),
    ({"worker": 2}, TABULAR),
]


def writers(job: ReplicaProcesses) -> list[str]:
    return sorted(path.name for path in (job.directory / "trial" / "logs").iterdir())


@pytest.mark.parametrize(("roles", "program"), CLUSTERS)
def test_job_trains_exports_and_every_process_ends(
    start_job: StartJob, roles: dict[str, int], program: Path
) -> None:
    job = start_job(roles, FEW_STEPS, program, ACK_TRAINING_EXPORT="1")
    job.run_to_end()
    assert all(codes == [0] for codes in job.codes.values())
    assert job.result()["step"] >= 60
    assert job.result()["examples"] == 1200
    export = job.directory / "trial" / "export"
    assert [path.name for path in export.iterdir()] == ["1"]
    leader = "worker-0" if roles["worker"] == 2 else "chief"
    assert writers(job) == [leader, "evaluator"] if "evaluator" in roles else [leader]
    for writer in writers(job):
        events = list((job.directory / "trial" / "logs" / writer / "run-1").iterdir())
        assert len(events) == 1
    names = [path.name for path in (job.directory / "trial" / "checkpoints").iterdir()]
    assert names == ["run-1"]

    job.codes = {name: [] for name in job.names}
    job.start()
    job.run_to_end()
    assert [path.name for path in export.iterdir()] == ["1"]


@pytest.mark.parametrize(
    ("roles", "absent", "named"),
    [
        ({"chief": 1, "worker": 2, "ps": 1}, "worker-1", "chief-0"),
        ({"chief": 1, "worker": 1, "ps": 1}, "chief-0", "ps-0"),
        ({"worker": 3}, "worker-2", "worker-0"),
    ],
)
def test_replica_that_does_not_come_up_is_named(
    start_job: StartJob, roles: dict[str, int], absent: str, named: str
) -> None:
    job = start_job(roles, FEW_STEPS, TABULAR, ACK_TRAINING_START_TIMEOUT="12")
    job.kill(absent)
    assert job.processes[named].wait(timeout=120) == 4
    pattern = rf"^tabular.py: the cluster did not assemble within 12 s: .*{absent} \(.*come up$"
    assert re.search(pattern, job.log(named), re.MULTILINE)


@pytest.mark.parametrize(
    "roles",
    [{"chief": 1, "worker": 1, "ps": 1, "evaluator": 1}, {"chief": 1, "worker": 1}],
)
def test_sigterm_ends_every_role_with_143(start_job: StartJob, roles: dict[str, int]) -> None:
    job = start_job(roles, ENDLESS, TABULAR)
    job.run_until(lambda: job.progress("chief-0")["step"] >= 40)
    # Together, as an operator ends a job: a peer's loss must not come first.
    for process in job.processes.values():
        process.send_signal(signal.SIGSTOP)
    job.kill(*job.names, with_signal=signal.SIGTERM)
    for process in job.processes.values():
        process.send_signal(signal.SIGCONT)
    codes = {name: process.wait(timeout=60) for name, process in job.processes.items()}
    assert codes == dict.fromkeys(job.names, 143)


def test_chief_without_any_worker_gives_up(start_job: StartJob) -> None:
    job = start_job({"chief": 1, "worker": 1, "ps": 1}, [*ENDLESS, "--idle-timeout=15"], TABULAR)
    job.run_until(lambda: job.progress("chief-0")["step"] >= 40)
    job.kill("worker-0")
    assert job.processes["chief-0"].wait(timeout=120) == 138
    assert re.search(
        r"^no step finished for 15 s; worker-0 \(.*\) did not answer", job.log("chief-0"), re.M
    )


FIT = """
import json
import os
import time

import tensorflow as tf
import keras
import numpy as np

task = json.loads(os.environ["TF_CONFIG"])["task"] if "TF_CONFIG" in os.environ else dict(type="")
if task["type"] == "ps" or (task["type"] == "worker" and "{strategy}".startswith("Parameter")):
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    tf.distribute.Server(
        resolver.cluster_spec(), job_name=task["type"], task_index=task["index"], protocol="grpc"
    ).join()
arguments = {arguments}
strategy = tf.distribute.{strategy}(*arguments)
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
try:
    model.fit(np.zeros((16, 4)), np.zeros((16, 1)), verbose=0)
except Exception as error:
    print("raised", error)
print("fitted")
"""

RESOLVER = "[tf.distribute.cluster_resolver.TFConfigClusterResolver()]"


@pytest.mark.parametrize(
    ("strategy", "arguments", "roles"),
    [
        ("MultiWorkerMirroredStrategy", "[]", {"chief": 1, "worker": 1}),
        ("ParameterServerStrategy", RESOLVER, {"chief": 1, "worker": 1, "ps": 1}),
    ],
)
def test_fit_of_keras_3_under_a_distributed_strategy_is_refused(
    start_job: StartJob, tmp_path: Path, strategy: str, arguments: str, roles: dict[str, int]
) -> None:
    program = tmp_path / "fits.py"
    program.write_text(FIT.format(strategy=strategy, arguments=arguments))
    job = start_job(roles, [], program)
    for name in [n for n in job.names if n == "chief-0" or strategy.startswith("Multi")]:
        job.processes[name].wait(timeout=120)
    told = [line for name in job.names for line in job.log(name).splitlines() if "fit" in line]
    assert told
    for line in told:
        assert line.startswith(f"Model.fit does not work under {strategy} with Keras 3.")
        assert "runtime.train" in line and "tf_keras" in line
    assert 2 in [process.poll() for process in job.processes.values()]


def test_fit_in_one_process_works(start_job: StartJob, tmp_path: Path) -> None:
    program = tmp_path / "fits.py"
    program.write_text(FIT.format(strategy="MirroredStrategy", arguments="[]"))
    job = start_job({"worker": 1}, [], program)
    job.run_to_end()
    assert "fitted" in job.log("worker-0")
