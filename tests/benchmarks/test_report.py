import platform

import pytest

from benchmarks import facts
from benchmarks.__main__ import NAMED, PAGE, SECTIONS
from benchmarks.report import Table, with_section

PAGE_TEXT = (
    "# Title\n<!-- a: begin -->\nold\n<!-- a: end -->\nkept\n<!-- b: begin --><!-- b: end -->\n"
)


def test_a_table_is_markdown_with_its_notes_below() -> None:
    table = Table(("what", "s"), (("a|b", "1.0"), ("c", "2.0")), ("A note.",))
    assert table.markdown() == (
        "| what | s |\n| --- | --- |\n| a\\|b | 1.0 |\n| c | 2.0 |\n\nA note."
    )


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="one cell for each column"):
        Table(("what", "s"), (("a",),))


def test_only_the_section_is_rewritten_and_a_second_time_changes_nothing() -> None:
    page = with_section(PAGE_TEXT, "a", "\nnew\n")
    assert page == PAGE_TEXT.replace("old", "new")
    assert with_section(page, "a", "new") == page


def test_a_page_without_the_markers_is_not_touched() -> None:
    with pytest.raises(ValueError, match=r"no <!-- c: begin -->"):
        with_section(PAGE_TEXT, "c", "new")


@pytest.mark.parametrize("section", [*SECTIONS, *NAMED, "from-nothing"])
def test_the_page_has_a_place_for_each_section(section: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "probe" in with_section(page, section, "probe")


def test_the_facts_name_no_path_and_no_machine() -> None:
    sentence = facts.machine("v3.272.0")
    assert "/" not in sentence
    assert platform.node() not in sentence
    assert "Pulumi 3.272.0" in sentence
