"""What a spec is on disk, and which ones are refused."""

from __future__ import annotations

import json

import pytest

from supervisor.spec import Health, Replica, RunPolicy, Spec, SpecError


def spec() -> Spec:
    return Spec(
        "service",
        "tb",
        "g",
        "/x",
        [Replica("tb", 0, ["a", "b"], {"K": "v"}, "Always")],
        RunPolicy(3, 1.5, "None", True),
        "AllWorkers",
        Health("http://x", 3),
        "/p",
        9,
    )


def test_a_spec_survives_its_file() -> None:
    assert Spec.from_json(json.loads(json.dumps(spec().to_json()))) == spec()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "cron"}, "kind: 'cron' is not one of 'job', 'service'"),
        ({"replicas": []}, "replicas: at least one is needed"),
        ({"success_policy": "All"}, "success_policy: 'All' is not one of"),
        ({"run_policy": {"clean_pod_policy": "Some"}}, "run_policy.clean_pod_policy: 'Some'"),
        ({"replicas": [{"role": "ps", "index": 0, "command": []}]}, "replicas.ps-0.command"),
        (
            {"replicas": [{"role": "ps", "index": 0, "command": ["x"], "restart_policy": "Often"}]},
            "replicas.ps-0.restart_policy: 'Often'",
        ),
        (
            {"replicas": [{"role": "ps", "index": 0, "command": ["x"]}] * 2},
            "replicas.ps-0: is there",
        ),
        ({"health": {"url": "ftp://x"}}, "health.url: 'ftp://x' must start with http://"),
        ({"colour": "red"}, "spec: .*colour"),
    ],
)
def test_a_spec_that_cannot_be_run_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Spec.from_json({**spec().to_json(), **change})
