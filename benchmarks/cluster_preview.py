"""`pulumi preview` of stacks on a cluster ÷ that of the same manifests by the SDK's ConfigGroup."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pairs import Comparison, in_turn, spread
from benchmarks.report import Table
from benchmarks.workspace import (
    Failed,
    Workspace,
    empty_program,
    finish,
    project_copy,
    readme_stack,
)

JOBS = (1, 20)

_PROGRAM = """\
import json
import pulumi
from pulumi_kubernetes import Provider
from pulumi_kubernetes.yaml.v2 import ConfigGroup

provider = Provider("kubernetes", kubeconfig={kubeconfig!r})
with open("manifests.json") as file:
    manifests = json.load(file)
ConfigGroup("all", objs=manifests, opts=pulumi.ResourceOptions(provider=provider))
"""


def measure(directory: Path, rounds: int) -> Table:
    """Of stacks of which nothing is there yet, on the cluster of KUBECONFIG, which has no training
    operator. Failed without one."""
    kubeconfig = os.environ.get("KUBECONFIG", "")
    if not Path(kubeconfig).is_file():
        raise Failed("cluster-preview needs KUBECONFIG, the kubeconfig file of a cluster")
    rows = []
    with project_copy(directory) as project:
        bare = empty_program(directory)
        for jobs in JOBS:
            project.configure(_stack(kubeconfig, jobs))
            manifests = _manifests(project)
            (bare.path / "manifests.json").write_text(json.dumps(manifests), encoding="utf-8")
            program = _PROGRAM.format(kubeconfig=kubeconfig)
            (bare.path / "__main__.py").write_text(program, encoding="utf-8")
            rows.append(_row(jobs, len(manifests), _compared(project, bare, rounds)))
        project.configure(readme_stack())
    return Table(
        ("`pulumi preview` on a cluster", "objects", "stack, s", "same manifests, s", "ratio"),
        tuple(rows),
        (f"Medians of {rounds} pairs; in brackets the least and the greatest ratio.",),
    )


def _stack(kubeconfig: str, jobs: int) -> dict[str, Any]:
    (served,) = readme_stack()["jobs"].values()
    job = {key: value for key, value in served.items() if key != "serve"}
    return {
        "target": "kubernetes",
        "kubernetes": {"kubeconfig": kubeconfig, "namespace": "ack-training-bench"},
        "storage": {"hostPath": "/var/lib/ack-training-bench"},
        "jobs": {f"job-{number}": job for number in range(jobs)},
    }


def _manifests(project: Workspace) -> list[Mapping[str, Any]]:
    text = finish(project.start("preview", "--json"), "preview --json")
    plan, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    found = [step["newState"] for step in plan["steps"] if step["op"] == "create"]
    return [each["inputs"] for each in found if each["type"].startswith("kubernetes:")]


def _compared(project: Workspace, bare: Workspace, rounds: int) -> Comparison:
    measures = {
        "bare": lambda: bare.pulumi("preview"),
        "project": lambda: project.pulumi("preview"),
    }
    in_turn(measures, 1)
    found = in_turn(measures, rounds)
    return Comparison(found["project"], found["bare"])


def _row(jobs: int, objects: int, found: Comparison) -> tuple[str, ...]:
    return (
        f"{jobs} job{'s' if jobs > 1 else ''}",
        str(objects),
        f"{median(found.values):.2f}",
        f"{median(found.baseline):.2f}",
        spread(found.ratios),
    )
