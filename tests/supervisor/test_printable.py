"""What a program writes, without what a terminal would obey."""

import pytest

from supervisor.printable import plain, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tab\tü – …\n", "tab\tü – …\n"),
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("\x1b]0;another title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b[2J\x1b[1;1H\x1b[?25lb\x1bc", "ab"),
        ("\x1b]0;no end\nnext\n", "0;no end\nnext\n"),
        ("no\0thing\x08\x07\x9b31m\x7f", "nothing31m"),
        ("1%\r2%\r3%\n", "1%\n2%\n3%\n"),
        ("of Windows\r\n", "of Windows\n"),
        ("cut\r", "cut"),
    ],
)
def test_only_text_and_colours_are_left(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


def test_what_is_kept_has_no_colours() -> None:
    assert plain("\x1b[1;31mred\x1b[0m\r\nblue") == "red\nblue"
