"""What set-up brings follows from the stack's target."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolchain import __main__ as toolchain
from toolchain import needs, stack
from toolchain.places import ROOT
from toolchain.report import Stop
from toolchain.venv import DEV, KUBERNETES, LOCAL, Group


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("config:\n  ack-training:target: kubernetes\n", "kubernetes"),
        ("config:\n  ack-training:target: local\n  ack-training:jobs: {}\n", "local"),
        ("config:\r\n  ack-training:target: ack\r\n", "ack"),
        ("config:\n    'ack-training:target':   \"ack\"   # later\n", "ack"),
        ("config:\n  ack-training:config:target: kubernetes\n", "kubernetes"),
        ("config:\n  target: kubernetes\n", "kubernetes"),
        # Below a job it is something else, as long as the stack's own is there.
        (
            "config:\n  ack-training:target: ack\n  ack-training:jobs: {a: {env:\n target: x}}\n",
            "ack",
        ),
        ("# ack-training:target: ack\nconfig:\n  ack-training:target: local\n", "local"),
        ("# ack-training:target: ack\n", "the default"),
        ("config:\n  ack-training:jobs:\n    target-practice: {}\n", "the default"),
        ("", "the default"),
        # Not plain to see, or nothing that is known.
        ("config: {ack-training:target: kubernetes}\n", None),
        ("config:\n  ack-training:target:\n    secure: v1:x=\n", None),
        ("config:\n  ack-training:target: &it kubernetes\n", None),
        ("config:\n  ack-training:target: kubernets\n", None),
        ("config:\n  ack-training:target: 'local\"\n", None),
        ("config:\n  ack-training:target: local\n  ack-training:target: ack\n", None),
    ],
)
def test_target_in(text: str, target: str | None) -> None:
    assert needs.target_in(text, "the default") == target


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: ack-training\nconfig: {}\n")
    for name, target in [("local", "local"), ("dev", "kubernetes"), ("prod", "ack"), ("odd", "?")]:
        text = f"config:\n  ack-training:target: {target}\n"
        (tmp_path / f"Pulumi.{name}.yaml").write_text(text)
    (tmp_path / "Pulumi.plain.yaml").write_text("config: {}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "groups", "cluster"),
    [
        ("local", [LOCAL], False),
        ("plain", [LOCAL], False),
        ("dev", [KUBERNETES], True),
        ("prod", [KUBERNETES], True),
        ("odd", [LOCAL, KUBERNETES], True),
    ],
)
def test_needs_of_stack(project: Path, name: str, groups: Sequence[Group], cluster: bool) -> None:
    assert needs.needs_of_stack(name, project) == needs.Needs(tuple(groups), cluster)


def test_config_of_the_project_counts_for_stacks_without_their_own(project: Path) -> None:
    (project / "Pulumi.yaml").write_text("config:\n  ack-training:target: kubernetes\n")
    assert needs.needs_of_stack("plain", project).groups == (KUBERNETES,)
    assert needs.needs_of_stack("local", project).groups == (LOCAL,)


def test_a_checkout_needs_a_clusters_packages_where_a_stack_is_on_one(project: Path) -> None:
    assert needs.needs_of_checkout(project) == needs.Needs((LOCAL, KUBERNETES), cluster=False)
    for name in ("dev", "prod", "odd"):
        (project / f"Pulumi.{name}.yaml").unlink()
    assert needs.needs_of_checkout(project) == needs.Needs((LOCAL,), cluster=False)


@pytest.fixture
def brought(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[needs.Needs]:
    """What each command sets up; nothing is."""
    asked: list[needs.Needs] = []
    monkeypatch.setattr(toolchain, "ROOT", project)
    monkeypatch.setattr(toolchain, "set_up", asked.append)
    for command in ("up", "preview", "destroy"):
        monkeypatch.setitem(toolchain._STACK_COMMANDS, command, lambda name: None)
    return asked


@pytest.mark.parametrize(
    ("arguments", "groups"),
    [
        (["up"], (LOCAL,)),
        (["up", "local"], (LOCAL,)),
        (["up", "dev"], (KUBERNETES,)),
        (["preview", "dev"], (KUBERNETES,)),
        (["destroy", "dev"], (KUBERNETES,)),
        (["destroy", "lost"], (LOCAL, KUBERNETES)),
        (["setup"], (LOCAL, KUBERNETES)),
        (["setup", "dev"], (KUBERNETES,)),
        (["setup-dev"], (LOCAL, KUBERNETES, DEV)),
    ],
)
def test_each_command_brings_what_its_stack_needs(
    brought: list[needs.Needs], arguments: list[str], groups: tuple[Group, ...]
) -> None:
    assert toolchain.main(arguments) == 0
    (only,) = brought
    assert only.groups == groups


@pytest.mark.parametrize("command", ["up", "preview", "setup"])
def test_a_misspelt_stack_is_told_before_anything_is_fetched(
    brought: list[needs.Needs], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert toolchain.main([command, "lcoal"]) == 1
    assert brought == []
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("no Pulumi.lcoal.yaml; the stacks here are local, dev, odd, plain, prod")


def test_a_stack_on_a_cluster_is_not_refused_where_tensorflow_does_not_run(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "ensure_platform", lambda: pytest.fail("asked for TensorFlow"))
    monkeypatch.setattr(toolchain, "ensure_engine", _not_here)
    with pytest.raises(Stop, match="not here"):
        toolchain.set_up(needs.needs_of_stack("dev", project))


def _not_here() -> None:
    raise Stop("not here")


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (["setup"], "setup"),
        (["setup", "STACK=dev"], 'setup "dev"'),
        (["watch"], 'setup "local"'),
        (["logs", "STACK=dev"], 'setup "dev"'),
        (["up", "STACK=dev"], 'up "dev"'),
    ],
)
def test_make_names_the_stack(make: list[str], arguments: str) -> None:
    of_an_outer_make = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "STACK", "ARGS", "JOB", "REPLICA")
    environment = {k: v for k, v in os.environ.items() if k not in of_an_outer_make}
    ran = subprocess.run(
        ["make", "-n", "--no-print-directory", *make],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[0].strip() == f"sh toolchain/run.sh {arguments}"


def test_the_stacks_of_this_project_are_understood() -> None:
    for name in stack.known_stacks(ROOT):
        assert needs._target_of(ROOT / f"Pulumi.{name}.yaml") is not None
