"""Paths of differences."""

import pytest

from provider.compare import changed_paths


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["a"]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, ["a.c"]),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["a[1]"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a"]),
        ({}, {"a": None}, ["a"]),
        ({"a": 1}, {}, ["a"]),
        ({"a": {"b": 1}}, {"a": 1}, ["a"]),
        ({"code": {"x/y.py": "1"}}, {"code": {"x/y.py": "2"}}, ['code["x/y.py"]']),
    ],
)
def test_differences_are_named_by_path(
    old: dict[str, object], new: dict[str, object], paths: list[str]
) -> None:
    assert list(changed_paths(old, new)) == paths
