"""Properties and changes as the plugin protocol has them."""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format, struct_pb2

from provider.compare import head_of
from provider.kinds import Change, Properties
from provider.protocol import provider


def properties_of(message: struct_pb2.Struct) -> Properties:
    properties: Properties = _whole_numbers(json_format.MessageToDict(message))
    return properties


def _whole_numbers(value: Any) -> Any:
    """A protobuf number is a double; our properties count replicas and seconds."""
    if isinstance(value, dict):
        return {key: _whole_numbers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(member) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def struct_of(properties: Properties) -> struct_pb2.Struct:
    return json_format.ParseDict(dict(properties), struct_pb2.Struct())


def completed(given: struct_pb2.Struct, more: Properties) -> struct_pb2.Struct:
    """`given` and `more`, without a way through Python that would lose what a number was."""
    found = struct_pb2.Struct()
    found.CopyFrom(given)
    found.MergeFrom(struct_of(more))
    return found


def difference_of(change: Change) -> Any:
    detailed = {}
    update, replace = provider.PropertyDiff.UPDATE, provider.PropertyDiff.UPDATE_REPLACE
    for path in change.updates:
        detailed[path] = provider.PropertyDiff(kind=update, inputDiff=True)
    for path in change.drift:
        detailed[path] = provider.PropertyDiff(kind=update)
    for path in change.replaces:
        detailed[path] = provider.PropertyDiff(kind=replace, inputDiff=True)
    some, none = provider.DiffResponse.DIFF_SOME, provider.DiffResponse.DIFF_NONE
    return provider.DiffResponse(
        changes=some if change else none,
        replaces=list(change.replaces),
        diffs=sorted({head_of(path) for path in detailed}),
        detailedDiff=detailed,
        hasDetailedDiff=True,
        # One name, one directory, one set of ports: the old one must be gone first.
        deleteBeforeReplace=True,
    )
