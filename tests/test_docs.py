"""What README and docs tell a user to type works."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
import yaml

import config
from tests.engine.workspace import PROJECT, Workspace

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / "docs").glob("*.md")),
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_BY_CI = {"make up", "make test"}
"""They set up and test the whole project; .ci/run calls them."""
FOLLOWS = " logs "
"""Does not end by itself."""
SETS_UP = ("make setup", "make test ")
"""Belong to the checkout that these tests run in, which is set up already."""


def blocks(page: str, language: str) -> list[str]:
    text = (PROJECT / page).read_text(encoding="utf-8")
    return [body for name, body in BLOCK.findall(text) if name == language]


def commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in blocks(page, "sh"):
            found += [(page, line) for line in block.splitlines() if line.strip()]
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace that has gone through README's first command, with fewer steps."""
    workspace = Workspace.create(tmp_path_factory.mktemp("docs") / "project")
    for part in ("docs", "toolchain", "Makefile", "versions.toml", "tests", "pyproject.toml"):
        source = PROJECT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, workspace.path / part)
    for lock in PROJECT.glob("requirements*.txt"):
        shutil.copy2(lock, workspace.path)
    # Without what Pulumi adds to the file: the salt of this user's passphrase.
    settings = yaml.safe_load((PROJECT / "Pulumi.local.yaml").read_text())["config"]
    settings["ack-training:jobs"]["distributed-mnist"]["args"] = ["--steps=300"]
    (workspace.path / "Pulumi.local.yaml").write_text(yaml.safe_dump({"config": settings}))
    assert workspace.pulumi("stack", "init", "local").code == 0
    try:
        up = workspace.up()
        assert up.code == 0, up
        yield workspace
    finally:
        destroyed = workspace.destroy()
    assert destroyed.code == 0, destroyed


@pytest.mark.tensorflow
def test_every_command_works(checkout: Workspace) -> None:
    """In the order of the pages, each in a shell as a user has one after README's `source`."""
    script = blocks("docs/programs.md", "python")[0]
    (checkout.path / "training/programs/line.py").write_text(script)
    predict = checkout.outputs()["jobs"]["distributed-mnist"]["predict"]
    failed = []
    for page, command in commands():
        if command in RUN_BY_CI:
            continue
        # The port is free to be another one where several stacks run.
        command = re.sub(r"http://127\.0\.0\.1:8501/\S+", predict, command)
        code, text = _run(checkout, command)
        if code != 0:
            failed.append(f"{page}: {command}: exit code {code}\n{text}")
    assert failed == []


def test_ci_runs_the_two_commands() -> None:
    script = (PROJECT / ".ci/run").read_text()
    (targets,) = re.findall(r"^for target in (.+); do$", script, re.MULTILINE)
    assert {f"make {target}" for target in targets.split()} >= RUN_BY_CI
    assert {command for _, command in commands()} >= RUN_BY_CI


@pytest.mark.parametrize("page", PAGES)
def test_every_stack_example_is_valid(page: str) -> None:
    for block in blocks(page, "yaml"):
        settings = yaml.safe_load(block)["config"]
        config.parse({key.removeprefix("ack-training:"): value for key, value in settings.items()})


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    text = (PROJECT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)", text)
    files = [target for target in targets if "://" not in target]
    missing = [name for name in files if not (PROJECT / page).parent.joinpath(name).exists()]
    assert missing == []


def _run(checkout: Workspace, command: str) -> tuple[int, str]:
    path = f"{checkout.path}/.venv/bin:{os.environ['PATH']}"
    place = PROJECT if command.startswith(SETS_UP) else checkout.path
    # The workspace shares the environment of the checkout, so there is nothing to set up in it.
    command = re.sub(r"^make (?!setup)", "make -o setup -o setup-dev ", command)
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=place,
        env={**checkout.environment, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    if FOLLOWS not in command:
        text, _ = process.communicate(timeout=600)
        return process.returncode, text
    time.sleep(10)
    still_following = process.poll() is None
    os.killpg(process.pid, 15)
    text, _ = process.communicate(timeout=60)
    return (0 if still_following and text.strip() else 1), text
