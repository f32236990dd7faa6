"""The reference and the editor's schema are those of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.base import Section
from config.docs import FOLDER, main, reference


def sections(section: type[Section] = Section) -> list[type[Section]]:
    return [each for child in section.__subclasses__() for each in (child, *sections(child))]


def test_what_is_committed_is_current() -> None:
    assert main(["--check"], FOLDER) == 0


def test_stale_files_are_named_and_then_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err.splitlines() == [
        "config.md is stale: run make docs",
        "config.schema.json is stale: run make docs",
    ]
    assert list(tmp_path.iterdir()) == []
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.__name__)
def test_every_setting_is_explained_and_says_what_a_change_does(section: type[Section]) -> None:
    text = reference()
    for key, field in zip(section.settings(), section.model_fields.values(), strict=True):
        assert field.description and field.description.endswith(".")
        assert isinstance(field.json_schema_extra, dict)
        assert f"| `{key}` |" in text
        assert f"| {field.description}" in text.replace("\\|", "|")
        assert str(field.json_schema_extra["x-on-change"]) in text
