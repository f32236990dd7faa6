"""The generator of valid stacks generates valid stacks, and editors accept them too."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from hypothesis import given, settings

from config import parse
from config.docs import FOLDER
from tests.config.valid_stacks import valid_stacks

_SCHEMA = json.loads((FOLDER / "config.schema.json").read_text(encoding="utf-8"))
_VALIDATOR = jsonschema.Draft202012Validator(_SCHEMA)


@settings(max_examples=100)
@given(valid_stacks())
def test_a_valid_stack_is_accepted(config: dict[str, Any]) -> None:
    stack = parse(config)
    assert list(stack.jobs) == list(config["jobs"])
    document = {"config": {f"ack-training:{key}": value for key, value in config.items()}}
    assert [error.message for error in _VALIDATOR.iter_errors(document)] == []
