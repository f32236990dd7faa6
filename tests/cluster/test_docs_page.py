"""What docs/kubernetes.md tells a user to type works, in its order, with the file that it names."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.stacks import ClusterStack
from tests.engine.workspace import PROJECT, Workspace
from tests.test_docs import ON_A_CLUSTER, commands, inline_commands, run_command
from toolchain.places import file_backend

RUN_ELSEWHERE = {
    "make image STACK=dev": "test_replica_image.py and test_registry.py run what it calls",
    "make image": "the same",
    "make image MIRROR=1": "the same",
    "make image ARCHIVE=file.tar": "the same",
    "make tensorboard STACK=dev": "lives until ctrl-C; test_console.py",
    "make watch": "a screen that lives until ctrl-C; the page has it with --once",
    "make logs": "names the command; the page has it with JOB",
    "make up STACK=dev": "the page has it with YES=1",
    "pulumi up": "test_job_life.py",
    "pulumi stack rename": "names the command, without its argument; test_renamed.py",
}


_NOT_COPIED = (".git", ".venv", "data", ".pulumi-state", ".ack-training", "__pycache__", ".*_cache")


@pytest.fixture
def page(stack: ClusterStack, tmp_path: Path) -> Iterator[Workspace]:
    """A checkout of its own, not set up, with Pulumi.dev.yaml as it is, but for what only this
    cluster has."""
    folder = tmp_path / "checkout"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns(*_NOT_COPIED))
    document = yaml.safe_load((PROJECT / "Pulumi.dev.yaml").read_text())
    context = document["config"]["ack-training:kubernetes"]["context"]
    kubeconfig = yaml.safe_load(stack.cluster.kubeconfig.read_text())
    kubeconfig["contexts"] = [{**each, "name": context} for each in kubeconfig["contexts"]]
    kubeconfig["current-context"] = context
    (folder / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
    document["config"] |= {
        "ack-training:kubernetes": {"context": context, "namespace": stack.namespace},
        "ack-training:storage": {"hostPath": str(stack.volume)},
        "ack-training:operator": {"install": False},
    }
    job = document["config"]["ack-training:jobs"]["distributed-mnist"]
    job["args"] = ["--steps=300"]
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump(document))
    environment = {**stack.workspace.environment, "KUBECONFIG": str(folder / "kubeconfig")}
    (folder / ".state").mkdir()
    environment["PULUMI_BACKEND_URL"] = file_backend(folder / ".state")
    yield Workspace(folder, environment)


def test_every_command_works(page: Workspace) -> None:
    failed = []
    for _, command in commands([ON_A_CLUSTER]) + inline_commands([ON_A_CLUSTER]):
        if command in RUN_ELSEWHERE:
            continue
        code, text = run_command(page, command)
        if code != 0:
            failed.append(f"{command}: exit code {code}\n{text}")
    assert not failed, "\n".join(failed)


def test_no_exception_outlives_its_command() -> None:
    assert set(RUN_ELSEWHERE) <= {
        command for _, command in commands([ON_A_CLUSTER]) + inline_commands([ON_A_CLUSTER])
    }
