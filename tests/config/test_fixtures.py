"""Whole configs: what is right is accepted, what is wrong is told in exactly the stated lines.

`<case>.error.<reason>.yaml` starts with the expected lines, each after `# `.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from config import ConfigErrors, Stack, parse
from config.docs import EXAMPLE, FOLDER

FIXTURES = Path(__file__).with_name("fixtures")
HAPPY = [*sorted(FIXTURES.glob("*.happy.yaml")), EXAMPLE]
WRONG = sorted(FIXTURES.glob("*.error.*.yaml"))


def sections(file: Path) -> dict[str, Any]:
    config = yaml.safe_load(file.read_text(encoding="utf-8"))["config"]
    prefix = "ack-training:"
    return {key[len(prefix) :]: value for key, value in config.items() if key.startswith(prefix)}


def expected(file: Path) -> list[str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line[2:] for line in lines if line.startswith("# ")]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((FOLDER / "config.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_there_are_fixtures_of_both_kinds() -> None:
    assert HAPPY and WRONG
    assert {file.name for file in FIXTURES.iterdir()} == {
        file.name for file in [*HAPPY, *WRONG] if file != EXAMPLE
    }


@pytest.mark.parametrize("file", HAPPY, ids=lambda file: file.name)
def test_what_is_right_is_accepted(file: Path, validator: jsonschema.Draft202012Validator) -> None:
    stack = parse(sections(file))
    assert isinstance(stack, Stack)
    assert list(stack.jobs) == list(sections(file).get("jobs") or {})
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.name)
def test_what_is_wrong_is_told(file: Path) -> None:
    with pytest.raises(ConfigErrors) as caught:
        parse(sections(file))
    assert caught.value.lines == expected(file)
    assert expected(file)
    assert str(caught.value) == "\n".join(expected(file))


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.name)
def test_no_line_holds_a_secret(file: Path) -> None:
    assert "hunter2" not in "".join(expected(file))


@pytest.mark.parametrize(
    "document",
    [
        {"ack-training:nodePool": {}},
        {"ack-training:jobs": {"m": {"wroker": {}}}},
        {"ack-training:jobs": {"M": {}}},
        {"ack-training:jobs": {"m": {"worker": {"gpus": 0.5}}}},
        {"ack-training:jobs": {"m": {"env": {"A": 3}}}},
        {"ack-training:jobs": {"m": {"args": [{"secure": "v1:x"}]}}},
        {"ack-training:tensorboard": {"port": 80}},
    ],
    ids=str,
)
def test_editors_see_mistakes(
    document: dict[str, Any], validator: jsonschema.Draft202012Validator
) -> None:
    assert not validator.is_valid({"config": document})


def test_editors_accept_what_pulumi_writes(validator: jsonschema.Draft202012Validator) -> None:
    secret = {"secure": "v1:abc"}
    env = {"TOKEN": secret, "OTHER": {"value": secret}}
    job = {"program": "a.py", "chief": {}, "env": env}
    document = {
        "encryptionsalt": "v1:abc",
        "config": {
            "alicloud:region": "cn-hangzhou",
            "ack-training:tensorboard": "",
            "ack-training:jobs": {"m": job},
        },
    }
    assert [error.message for error in validator.iter_errors(document)] == []
