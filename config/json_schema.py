"""JSON Schema of a whole `Pulumi.<stack>.yaml`, for editors."""

from __future__ import annotations

from typing import Any

from config.base import NAMESPACE
from config.names import ENV_PATTERN, LABEL_PATTERN
from config.stack import Stack

_SECRET = {
    "type": "object",
    "description": "Written by pulumi config set --secret.",
    "properties": {"secure": {"type": "string"}},
    "required": ["secure"],
    "additionalProperties": False,
}


def stack_file_schema() -> dict[str, Any]:
    """The schema; keys of other namespaces and of Pulumi itself are allowed."""
    stack = _without_titles(Stack.model_json_schema())
    definitions = stack.pop("$defs")
    for section in (stack, *definitions.values()):
        _allow_empty(section.get("anyOf", [section])[-1])
    _allow_secrets(definitions)
    known = stack["properties"]
    for setting in known.values():
        # What pulumi makes of a bare key when it rewrites the file.
        setting["anyOf"].append({"const": ""})
    known["jobs"]["anyOf"][0]["propertyNames"] = {"pattern": LABEL_PATTERN}
    known["datasets"]["anyOf"][0]["propertyNames"] = {"pattern": LABEL_PATTERN}
    dataset = known["datasets"]["anyOf"][0]
    dataset["additionalProperties"] = {"anyOf": [dataset["additionalProperties"], {"type": "null"}]}
    unknown = f"^{NAMESPACE}:(?!(?:{'|'.join(known)})$)"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Stack config of ack-training",
        "type": "object",
        "properties": {
            "config": {
                "type": ["object", "null"],
                "properties": {f"{NAMESPACE}:{key}": value for key, value in known.items()},
                "patternProperties": {unknown: False},
            }
        },
        "$defs": definitions,
    }


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def _allow_empty(section: dict[str, Any]) -> None:
    """A setting's bare key is allowed, except where the value is required."""
    required = section.get("required", [])
    for key, setting in section.get("properties", {}).items():
        if key in required or {"type": "null"} in setting.get("anyOf", []):
            continue
        about = {
            name: setting.pop(name)
            for name in ("description", "default", "x-on-change")
            if name in setting
        }
        section["properties"][key] = {"anyOf": [setting, {"type": "null"}], **about}


def _allow_secrets(definitions: dict[str, Any]) -> None:
    variable = definitions["EnvValue"]
    variable["anyOf"].append(_SECRET)
    value = variable["anyOf"][1]["properties"]["value"]
    variable["anyOf"][1]["properties"]["value"] = {
        "anyOf": [{"type": "string"}, _SECRET],
        "description": value["description"],
    }
    env = definitions["Job"]["properties"]["env"]["anyOf"][0]
    env["propertyNames"] = {"pattern": ENV_PATTERN}
