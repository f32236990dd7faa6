"""Which stack `make up` and `make preview` work on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import stack
from toolchain.report import Stop

Program = Callable[[str, str], Path]

# Answers as pulumi does; `selected` and the files in `stacks` are its memory.
PULUMI = """
cd "{folder}"
echo "$*" >> asked
case "$*" in
"stack --show-name"*) cat selected 2>/dev/null ;;
"stack select"*) touch "stacks/$3"; printf %s "$3" > selected ;;
"stack init"*)
    if [ -e "stacks/$3" ]; then
        echo "error: stack 'organization/ack-training/$3' already exists" >&2; exit 255
    fi
    touch "stacks/$3" ;;
esac
"""


@pytest.fixture
def project(tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stacks").mkdir()
    for name in ("local", "mine", "a.b"):
        (tmp_path / f"Pulumi.{name}.yaml").write_text("config: {}\n")
    (tmp_path / "Pulumi.yaml").write_text("name: ack-training\n")
    monkeypatch.setattr(stack, "ROOT", tmp_path)
    monkeypatch.setattr(stack, "STATE", tmp_path / ".pulumi-state")
    monkeypatch.setattr(stack, "WRAPPER", program("pulumi", PULUMI.format(folder=tmp_path)))
    return tmp_path


def test_the_first_stack_is_selected(project: Path) -> None:
    stack._ensure("local")
    assert (project / "selected").read_text() == "local"


def test_another_stack_is_made_and_the_selection_stays(project: Path) -> None:
    stack._ensure("local")
    for _ in range(2):
        stack._ensure("mine")
    assert (project / "stacks/mine").exists()
    assert (project / "selected").read_text() == "local"


def test_a_selected_stack_costs_one_question(project: Path) -> None:
    stack._ensure("local")
    (project / "asked").unlink()
    stack._ensure("local")
    assert (project / "asked").read_text().splitlines() == ["stack --show-name --non-interactive"]


def test_a_stack_without_a_file_is_a_slip(project: Path) -> None:
    with pytest.raises(Stop, match=r"there is no Pulumi.lcoal.yaml; .* are local, a.b, mine$"):
        stack._ensure("lcoal")
    assert list((project / "stacks").iterdir()) == []


@pytest.mark.parametrize("command", ["up", "destroy"])
def test_where_no_one_can_answer_nothing_is_asked_or_done(
    project: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("YES", raising=False)
    monkeypatch.delenv("PULUMI_SKIP_CONFIRMATIONS", raising=False)
    with open(os.devnull) as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        with pytest.raises(Stop, match=f"make {command} STACK=mine asks .* YES=1 answers yes"):
            getattr(stack, command)("mine")
    assert not (project / "asked").exists()


def test_what_answers_pulumi_is_left_to_pulumi(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("YES", raising=False)
    monkeypatch.setenv("PULUMI_SKIP_CONFIRMATIONS", "true")
    became: list[tuple[str, ...]] = []
    monkeypatch.setattr(stack, "_become", lambda *words: became.append(words))
    with open(os.devnull) as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        stack.up("mine")
    assert became == [("up", "mine")]
