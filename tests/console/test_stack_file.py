"""Which target a stack is on, and what its file says, without Pulumi."""

from pathlib import Path

import pytest

from console.cluster.declared import declared
from console.local.source import LocalSource
from console.source import open_source
from console.stack_file import StackFileError, read_sections, target_of

KUBECONFIG = """
contexts: [{name: kind-dev, context: {cluster: c}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
"""
JOBS = """
  ack-training:jobs:
    m: {image: i, command: [sh], chief: , worker: {replicas: 2}, ps: {}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: ack-training\nruntime: python\n")
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    return tmp_path


def write(project: Path, config: str, stack: str = "dev") -> None:
    (project / f"Pulumi.{stack}.yaml").write_text(f"config:\n{config}")


def on_cluster(config: str = "") -> str:
    return (
        "  ack-training:target: kubernetes\n"
        "  ack-training:kubernetes: {kubeconfig: kubeconfig}\n"
        "  ack-training:storage: {hostPath: /x}\n" + (config or JOBS)
    )


def sections(project: Path) -> dict[str, object]:
    return read_sections(project, "dev", may_be_absent=False)


@pytest.mark.parametrize("config", ["  a:b: c\n", "  ack-training:target: local\n", "  {}\n"])
def test_a_stack_is_on_this_machine_unless_it_says_otherwise(project: Path, config: str) -> None:
    write(project, config)
    assert isinstance(open_source(project, "dev"), LocalSource)


def test_what_has_run_here_is_shown_without_a_file(project: Path) -> None:
    (project / ".ack-training/dev").mkdir(parents=True)
    assert isinstance(open_source(project, "dev"), LocalSource)


def test_a_stack_that_is_not_there(project: Path) -> None:
    with pytest.raises(StackFileError, match="there is no stack dev here"):
        open_source(project, "dev")


@pytest.mark.parametrize("key", ["ack-training:target", "ack-training:config:target", "target"])
def test_every_spelling_of_a_key_counts(project: Path, key: str) -> None:
    write(project, f"  {key}: kubernetes\n")
    assert target_of(sections(project)) == "kubernetes"


@pytest.mark.parametrize("value", ["kubernetes", "{value: kubernetes}", "{default: kubernetes}"])
def test_the_project_has_config_for_every_stack(project: Path, value: str) -> None:
    with (project / "Pulumi.yaml").open("a") as file:
        file.write(f"config:\n  ack-training:target: {value}\n")
    write(project, "  {}\n")
    assert target_of(sections(project)) == "kubernetes"
    write(project, "  ack-training:target: local\n")
    assert target_of(sections(project)) == "local"


def test_the_files_may_lie_in_another_folder(project: Path) -> None:
    with (project / "Pulumi.yaml").open("a") as file:
        file.write("stackConfigDir: stacks\n")
    (project / "stacks").mkdir()
    write(project / "stacks", "  ack-training:target: kubernetes\n")
    assert target_of(sections(project)) == "kubernetes"


def test_values_are_those_that_pulumi_reads(project: Path) -> None:
    write(project, "  a: [on, 12:30, 2024-01-01, 1e3, 7, -1.5, ~, true, 'no']\n")
    assert sections(project)["a"] == [
        "on",
        "12:30",
        "2024-01-01",
        1000.0,
        7,
        -1.5,
        None,
        True,
        "no",
    ]


def test_what_is_no_yaml_is_told_with_its_line(project: Path) -> None:
    write(project, "  a: [\n")
    with pytest.raises(StackFileError, match=r"Pulumi\.dev\.yaml is no YAML \(line 3\)"):
        open_source(project, "dev")


def test_what_a_stack_declares(project: Path) -> None:
    tensorboard = "  ack-training:tensorboard: {port: 7007, pathPrefix: tb}\n"
    write(project, on_cluster(JOBS + tensorboard))
    found = declared(sections(project), project, "dev")
    assert found.jobs == {"m": ("chief-0", "worker-0", "worker-1", "ps-0")}
    assert (found.namespace, found.context) == ("training", "kind-dev")
    assert (found.brings_operator, found.operator_namespace) == (True, "kubeflow")
    assert found.tensorboard is not None
    assert (found.tensorboard.port, found.tensorboard.path) == (7007, "/tb/")


def test_defaults_are_those_of_the_schema(project: Path) -> None:
    write(project, on_cluster())
    board = declared(sections(project), project, "dev").tensorboard
    assert board is not None
    assert (board.port, board.path) == (6006, "/")


def test_no_tensorboard(project: Path) -> None:
    write(project, on_cluster(JOBS + "  ack-training:tensorboard: {enabled: false}\n"))
    assert declared(sections(project), project, "dev").tensorboard is None


def test_secrets_need_not_be_read(project: Path) -> None:
    env = "      env: {A: {secure: v1:x}, B: {value: {secure: v1:x}}, C: plain}\n"
    job = "  ack-training:jobs:\n    m:\n      image: i\n      command: [sh]\n      worker:\n"
    write(project, on_cluster(job + env))
    assert list(declared(sections(project), project, "dev").jobs) == ["m"]


def test_jobs_that_are_secret_as_a_whole_are_known_by_the_cluster_alone(project: Path) -> None:
    write(project, on_cluster("  ack-training:jobs: {secure: v1:x}\n"))
    assert declared(sections(project), project, "dev").jobs == {}


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (on_cluster("  ack-training:jbs: {}\n"), ["ack-training:jbs: unknown key"]),
        (
            on_cluster(
                "  ack-training:jobs:\n"
                "    m: {image: i, command: [sh], worker: 1, chief: {gpus: -1}}\n"
            ),
            ["ack-training:jobs.m.chief.gpus: must", "ack-training:jobs.m.worker: must"],
        ),
        ("  ack-training:target: kubernets\n", ["ack-training:target: "]),
        (
            "  ack-training:target: kubernetes\n"
            "  ack-training:kubernetes: {kubeconfig: kubeconfig, context: other}\n"
            "  ack-training:storage: {hostPath: /x}\n",
            ["ack-training:kubernetes.context: there is no context 'other'"],
        ),
        (
            on_cluster("  ack-training:imageRegistry: {secure: v1:x}\n"),
            ["ack-training:imageRegistry: must not be secret"],
        ),
    ],
)
def test_every_fault_is_a_line(project: Path, config: str, told: list[str]) -> None:
    write(project, config)
    with pytest.raises(StackFileError) as error:
        open_source(project, "dev")
    lines = str(error.value).splitlines()
    assert len(lines) == len(told)
    for line, start in zip(lines, told, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("label", "owns"),
    [
        ("organization.ack-training.dev", True),
        ("my-team.ack-training.dev", True),
        ("ack-training.dev", True),
        ("organization.ack-training.mydev", False),
        ("organization.other.dev", False),
    ],
)
def test_objects_of_the_stack_are_known_by_their_label(
    project: Path, label: str, owns: bool
) -> None:
    write(project, on_cluster())
    assert declared(sections(project), project, "dev").owns(label) is owns


def test_a_label_that_was_cut_is_known_too(project: Path) -> None:
    stack = "s" * 70
    write(project, on_cluster(), stack)
    found = declared(read_sections(project, stack, may_be_absent=False), project, stack)
    assert found.owns("s" * 63)
