"""Secret values are found, kept apart and shown nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config import ConfigErrors, Stack, parse
from config.load import secret_marks
from config.secrets import SecretMarks

RECEIVED: dict[str, Any] = {
    "jobs": {
        "m": {
            "program": "a.py",
            "chief": {"cpu": 2},
            "args": ["--steps=2000"],
            "env": {"TOKEN": "hunter2hunter2", "OTHER": {"value": "swordfish99"}, "PLAIN": "text"},
            "suspend": False,
        }
    }
}

WRITTEN = """
config:
  ack-training:jobs:
    m:
      program: a.py
      chief: {cpu: 2}
      args: [--steps=2000]
      suspend: false
      env:
        TOKEN: {secure: v1:abc}
        OTHER: {value: {secure: v1:def}}
        PLAIN: text
"""


def marks(folder: Path, secret: set[str] | None = None, stack: str = "local") -> SecretMarks:
    return secret_marks(RECEIVED, {"jobs"} if secret is None else secret, folder, stack)


def secrecy(stack: Stack) -> dict[str, bool]:
    return {name: value.secret for name, value in stack.jobs["m"].env.items()}


def write(folder: Path, text: str = WRITTEN, name: str = "Pulumi.local.yaml") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("spelling", ["ack-training:jobs", "ack-training:config:jobs", "jobs"])
def test_the_stack_file_tells_which_values_are_secret(tmp_path: Path, spelling: str) -> None:
    write(tmp_path, WRITTEN.replace("ack-training:jobs", spelling))
    stack = parse(RECEIVED, marks=marks(tmp_path))
    assert secrecy(stack) == {"TOKEN": True, "OTHER": True, "PLAIN": False}
    assert stack.jobs["m"].env["TOKEN"].value == "hunter2hunter2"
    assert not stack.jobs["m"].opaque


@pytest.mark.parametrize("key", ["stackConfigDir", "config"])
def test_the_stack_file_may_lie_in_another_folder(tmp_path: Path, key: str) -> None:
    write(tmp_path, f"name: ack-training\n{key}: stacks\n", "Pulumi.yaml")
    write(tmp_path / "stacks")
    assert marks(tmp_path).opaque == frozenset()
    assert len(marks(tmp_path).leaves) == 2


@pytest.mark.parametrize(
    "written",
    [
        None,
        "config: [",
        "config: {}",
        "config: {ack-training:jobs: {secure: v1:abc}}",
        WRITTEN.replace("{secure: v1:abc}", "hunter2hunter2").replace("{secure: v1:def}", "x"),
        WRITTEN.replace("PLAIN: text", "PLAIN: other"),
        WRITTEN.replace("TOKEN:", "OLD_TOKEN:"),
        WRITTEN.replace("[--steps=2000]", "[--steps=2000, --more]"),
    ],
    ids=["absent", "damaged", "empty", "whole", "no secret", "value", "key", "length"],
)
def test_without_an_explanation_all_is_secret(tmp_path: Path, written: str | None) -> None:
    if written is not None:
        write(tmp_path, written)
    stack = parse(RECEIVED, marks=marks(tmp_path))
    assert secrecy(stack) == {"TOKEN": True, "OTHER": True, "PLAIN": True}
    assert stack.jobs["m"].opaque


def test_without_secret_keys_no_file_is_needed(tmp_path: Path) -> None:
    assert marks(tmp_path, secret=set()) == SecretMarks()
    assert secrecy(parse(RECEIVED)) == {"TOKEN": False, "OTHER": False, "PLAIN": False}


def test_a_secret_outside_env_is_refused_without_showing_it() -> None:
    args = ("jobs", "m", "args", 0)
    with pytest.raises(ConfigErrors) as caught:
        parse(RECEIVED, marks=SecretMarks(leaves=frozenset({args})))
    assert caught.value.lines == [
        "ack-training:jobs.m.args[0]: must not be secret: only env of a job carries secrets; "
        "move it there"
    ]


def test_a_whole_section_other_than_jobs_is_no_secret() -> None:
    with pytest.raises(ConfigErrors) as caught:
        parse({"storage": {"path": "x"}}, marks=SecretMarks(opaque=frozenset({"storage"})))
    assert caught.value.lines == [
        "ack-training:storage: must not be secret: only env of a job carries secrets; move it there"
    ]


def test_an_opaque_section_shows_no_value_in_an_error() -> None:
    job = {"program": "a.py", "chief": {"memory": "hunter2hunter2"}, "args": ["hunter2hunter2"]}
    broken = {"jobs": {"m": {**job, "directory": "hunter2hunter2/..", "wait": "hunter2"}}}
    with pytest.raises(ConfigErrors) as caught:
        parse(broken, marks=SecretMarks(opaque=frozenset({"jobs"})))
    assert len(caught.value.lines) == 3
    assert "hunter2" not in str(caught.value)


def test_explicit_secrets_and_their_repr() -> None:
    env = {"TOKEN": {"value": "hunter2hunter2", "secret": True}, "PLAIN": "also-hidden"}
    stack = parse({"jobs": {"m": {"program": "a.py", "chief": {}, "env": env}}})
    assert secrecy(stack) == {"TOKEN": True, "PLAIN": False}
    assert "hunter2" not in f"{stack!r} {stack} {stack.jobs['m'].env}"
    assert "also-hidden" not in f"{stack!r} {stack}"
