"""A container's log that is asked for again and again."""

import pytest

from console.cluster.log_lines import LogLines


def stamp(second: int, fraction: str = ".000000000", zone: str = "Z") -> str:
    return f"2026-11-30T16:53:{second:02}{fraction}{zone}"


def answer(*lines: str) -> list[bytes]:
    return ["".join(f"{line}\n" for line in lines).encode()]


def test_each_line_is_shown_once_and_without_its_time() -> None:
    lines = LogLines()
    first, second, third = f"{stamp(1)} a", f"{stamp(2)} b", f"{stamp(3)} c"
    assert list(lines.unseen(answer(first, second))) == ["a\n", "b\n"]
    assert list(lines.unseen(answer(second, third))) == ["c\n"]
    assert list(lines.unseen(answer(third))) == []


def test_what_was_shown_is_not_asked_for_again() -> None:
    lines = LogLines()
    assert lines.since == {}
    list(lines.unseen(answer(f"{stamp(59, '.987654321')} a")))
    assert lines.since == {"sinceTime": "2026-11-30T16:53:59Z"}


def test_nanoseconds_tell_lines_apart() -> None:
    lines = LogLines()
    list(lines.unseen(answer(f"{stamp(1, '.123456788')} a")))
    again = answer(f"{stamp(1, '.123456788')} a", f"{stamp(1, '.123456789')} b")
    assert list(lines.unseen(again)) == ["b\n"]


def test_lines_of_the_same_moment_are_all_shown() -> None:
    """Clocks of some machines are coarse."""
    lines = LogLines()
    same = f"{stamp(1)} x"
    assert list(lines.unseen(answer(same, same))) == ["x\n", "x\n"]
    assert list(lines.unseen(answer(same, same, same))) == ["x\n"]


@pytest.mark.parametrize("size", [1, 2, 7])
def test_pieces_may_be_cut_anywhere(size: int) -> None:
    text = f"{stamp(1)} für\n{stamp(2)} b\n".encode()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert list(LogLines().unseen(pieces)) == ["für\n", "b\n"]


def test_the_end_of_a_log_may_be_no_whole_line() -> None:
    assert list(LogLines().unseen([f"{stamp(1)} a\n{stamp(2)} b".encode()])) == ["a\n", "b"]


def test_times_may_be_of_another_zone() -> None:
    lines = LogLines()
    list(lines.unseen(answer(f"{stamp(1, '', '+08:00')} a")))
    assert lines.since == {"sinceTime": "2026-11-30T08:53:01Z"}


def test_a_word_of_the_kubelet_is_shown_as_it_is() -> None:
    said = "unable to retrieve container logs for containerd://1"
    assert list(LogLines().unseen([said.encode()])) == [said]


def test_lines_that_are_no_text_are_shown_as_far_as_they_are() -> None:
    assert list(LogLines().unseen([f"{stamp(1)} ".encode() + b"\xff\n"])) == ["�\n"]
