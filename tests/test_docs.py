"""What README and docs tell a user to type works."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence

import pytest
import yaml

import config
from tests.engine.workspace import PROJECT, Workspace

ON_A_CLUSTER = "docs/kubernetes.md"
"""Its commands are run by tests/cluster/test_docs_page.py."""
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / "docs").glob("*.md")),
)
RUN_HERE = tuple(page for page in PAGES if page != ON_A_CLUSTER)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:make|pulumi) [^`]+)`")
RUN_BY_CI = {"make up", "make test", "make test-cluster", "make check", "make destroy"}
"""They set up, test and check the whole project; .ci/run calls them."""
NOT_RUN_HERE = {
    "make logs": "needs JOB where there are several; run with it",
    "make watch": "a screen that lives until ctrl-C; run here once, and by tests/console",
    "make bench": "takes many minutes and wants an idle machine; tests/benchmarks run its parts",
    'make bench ARGS="preview --write"': "the same",
    "make bench ARGS=--from-nothing": "the same, and the network",
    "make image": "builds for minutes; tests/cluster build, push and mirror with what it calls",
    "make up STACK=dev": "needs a cluster; the page on it has it, and is run on one",
    "make lock": "asks package registries; tests/toolchain compare the locks with versions.toml",
    "make fmt": "writes into the checkout; make check fails where it would",
    "make docs": "the same; tests/config/test_docs.py fails where it would",
    "make PYTHON=/path/to/python up": "tests/toolchain choose a Python that there is",
    "pulumi cancel": "for a killed `up`; run by tests/engine/test_faults.py",
    "pulumi config set": "names the command, the page has it with its arguments",
}
OF_AN_OUTER_MAKE = {
    *("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARGS", "STACK", "JOB", "REPLICA", "YES", "PORT"),
    *("IMAGE", "PUSH", "ARCHIVE", "MIRROR", "PYTHON_IMAGE", "BUILDER"),
}
"""With them the settings of a `make test ARGS=…` would be those of each command."""
SETS_UP = ("make setup", "make test ")
"""Belong to the checkout that these tests run in, which is set up already."""


def blocks(page: str, language: str) -> list[str]:
    text = (PROJECT / page).read_text(encoding="utf-8")
    return [body for name, body in BLOCK.findall(text) if name == language]


def commands(pages: Sequence[str] = RUN_HERE) -> list[tuple[str, str]]:
    """Every command on a line of its own, in the order of the pages."""
    found = []
    for page in pages:
        for block in blocks(page, "sh"):
            found += [(page, line) for line in block.splitlines() if line.strip()]
    return found


def inline_commands(pages: Sequence[str] = RUN_HERE) -> list[tuple[str, str]]:
    """Every command within a text or table that no block of its page has."""
    found: dict[str, str] = {}
    for page in pages:
        for command in INLINE.findall((PROJECT / page).read_text(encoding="utf-8")):
            found.setdefault(" ".join(command.split()), page)
    on_lines = {command for _, command in commands(pages)}
    return [(page, command) for command, page in found.items() if command not in on_lines]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace that has gone through README's first command, with fewer steps."""
    workspace = Workspace.create(tmp_path_factory.mktemp("docs") / "project")
    for part in ("docs", "Makefile", "tests", "pyproject.toml"):
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
    for page, command in commands() + inline_commands():
        if command in RUN_BY_CI or command in NOT_RUN_HERE:
            continue
        # The port is free to be another one where several stacks run.
        command = re.sub(r"http://127\.0\.0\.1:8501/\S+", predict, command)
        code, text = run_command(checkout, command)
        if code != 0:
            failed.append(f"{page}: {command}: exit code {code}\n{text}")
    assert failed == []


def test_ci_runs_what_is_not_run_here() -> None:
    script = (PROJECT / ".ci/run").read_text()
    targets = re.findall(r"^run ([\w-]+)", script, re.MULTILINE)
    assert {f"make {target}" for target in targets} == RUN_BY_CI


def test_no_exception_outlives_its_command() -> None:
    named = {command for _, command in commands() + inline_commands()}
    assert set(NOT_RUN_HERE) | RUN_BY_CI <= named


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


def run_command(checkout: Workspace, command: str) -> tuple[int, str]:
    """Exit code and text of a command, in a shell as a user has one after README's `source`."""
    path = f"{checkout.path}/.venv/bin:{os.environ['PATH']}"
    place = PROJECT if command.startswith(SETS_UP) else checkout.path
    environment = {k: v for k, v in checkout.environment.items() if k not in OF_AN_OUTER_MAKE}
    # A `pulumi login` is not this user's own.
    environment["PULUMI_CREDENTIALS_PATH"] = str(checkout.path / ".state/credentials")
    # The workspace shares the environment of the checkout, so there is nothing to set up in it.
    command = re.sub(r"^make (?!setup)", "make -o setup -o setup-dev ", command)
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        # As if the user had answered "yes" to what Pulumi asks in a terminal.
        env={**environment, "PATH": path, "PULUMI_SKIP_CONFIRMATIONS": "true"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return ran.returncode, ran.stdout
