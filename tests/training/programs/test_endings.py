"""The last moments of a run: every worker learns of it, and the curve has its last point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.training.programs.conftest import StartJob
from tests.training.programs.replica_processes import free_ports, has_ipv6, run, scalars

pytestmark = pytest.mark.tensorflow

FEW_STEPS = ["--steps=20", "--checkpoint-every=10", "--log-every=10"]


def test_workers_agree_on_the_end_without_seeing_a_file(start_job: StartJob) -> None:
    program = Path(__file__).with_name("blind.py")
    job = start_job({"chief": 1, "worker": 2}, FEW_STEPS, program, ACK_TRAINING_EXPORT="1")
    job.run_to_end()
    assert job.codes == {name: [0] for name in job.names}
    assert job.progress("worker-1")["phase"] == "done"


def test_the_leader_writes_the_point_that_no_evaluator_wrote(tmp_path: Path) -> None:
    chief, evaluator = (f"127.0.0.1:{port}" for port in free_ports(2))
    cluster = {"chief": [chief], "evaluator": [evaluator]}
    config = json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}})

    def train(steps: int) -> dict[str, list[int]]:
        ended = run(tmp_path, f"--steps={steps}", program="tabular.py", TF_CONFIG=config)
        assert ended.returncode == 0, ended.stderr
        return scalars(tmp_path / "trial/logs/chief/run-1")

    assert train(20)["evaluation/loss"] == [20]
    # As an evaluator leaves it that evaluated the last step.
    (tmp_path / "trial/checkpoints/run-1/evaluated.json").write_text('{"step": 40}')
    assert train(40)["evaluation/loss"] == [20]


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("roles", [{"worker": 2}, {"chief": 1, "worker": 1, "ps": 1}])
def test_a_cluster_of_ipv6_addresses_trains(start_job: StartJob, roles: dict[str, int]) -> None:
    job = start_job(roles, FEW_STEPS, Path("tabular.py"), host="[::1]")
    job.run_to_end()
    assert all(codes == [0] for codes in job.codes.values())
