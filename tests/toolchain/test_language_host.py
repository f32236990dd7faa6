"""The pulumi and language host that this checkout was set up with, on small programs."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.toolchain.small_project import Project
from toolchain.places import ROOT, VENV

PROGRAM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Doubler(ResourceProvider):
    def create(self, props):
        return CreateResult("made", {**props, "twice": 2 * props["once"]})

class Doubled(Resource):
    twice: pulumi.Output[float]
    def __init__(self, name, once):
        super().__init__(Doubler(), name, {"once": once, "twice": None})

print("a line from the program")
config = pulumi.Config()
pulumi.export("twice", Doubled("d", config.require_int("once")).twice)
pulumi.export("hidden", config.require_secret("hidden"))
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    assert made.pulumi("stack", "init", "local").returncode == 0
    return made


def test_a_program_with_config_secrets_and_a_dynamic_provider(project: Project) -> None:
    (project.folder / "__main__.py").write_text(PROGRAM)
    assert project.pulumi("config", "set", "once", "21").returncode == 0
    assert project.pulumi("config", "set", "--secret", "hidden", "quite secret").returncode == 0
    ran = project.pulumi("up", "--yes", "--skip-preview")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "a line from the program" in ran.stdout
    assert "quite secret" not in ran.stdout + ran.stderr
    assert "warning" not in ran.stdout + ran.stderr
    outputs = json.loads(project.pulumi("stack", "output", "--json", "--show-secrets").stdout)
    assert outputs == {"twice": 42, "hidden": "quite secret"}
    again = project.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_failing_program_is_reported_once(project: Project) -> None:
    (project.folder / "__main__.py").write_text("raise ValueError('broken on purpose')\n")
    ran = project.pulumi("preview")
    assert ran.returncode != 0
    assert (ran.stdout + ran.stderr).count("ValueError: broken on purpose") == 1


def test_a_program_that_ends_itself_fails_the_preview(project: Project) -> None:
    (project.folder / "__main__.py").write_text("import os\nos._exit(7)\n")
    ran = project.pulumi("preview")
    assert ran.returncode != 0
    assert "exited with non-zero exit code: 7" in ran.stdout + ran.stderr


def test_plain_pulumi_is_found_when_the_environment_is_active() -> None:
    script = f'. "{VENV}/bin/activate" && command -v pulumi'
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout.strip() == str(VENV / "bin" / "pulumi")
