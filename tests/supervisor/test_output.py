"""What a replica writes: masked, kept whole, rotated, and never a reason to die."""

from __future__ import annotations

import base64
import json
import os
import random
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from supervisor import client, logs, masking
from supervisor.logs import ReplicaLog, tail_lines
from supervisor.masking import LineMasker, forms, mask
from tests.supervisor.conftest import Place, python, shell

SECRET = "correct horse/battery+staple"
LINES = "first line of it\nsecond line of it\n\nab\n"


def complain(text: str) -> None:
    raise AssertionError(text)


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        base64.b64encode(SECRET.encode()).decode(),
        f"x{SECRET}{SECRET}y",
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
    ],
)
def test_a_secret_and_its_base64_are_hidden(text: str) -> None:
    shown = mask(text.encode(), forms([SECRET]))
    assert b"[secret]" in shown
    assert shown.replace(b"[secret]", b"").strip(b"xy=") == b""


@pytest.mark.parametrize("user", ["a", "ab", "abc"])
def test_a_secret_inside_a_longer_base64_is_hidden(user: str) -> None:
    """As a request's header has it, with the name before it."""
    header = base64.b64encode(f"{user}:{SECRET}\n".encode())
    shown = mask(header, forms([SECRET]))
    # What shares its characters with the name before it and the line's end after it.
    assert b"[secret]" in shown
    assert len(shown.replace(b"[secret]", b"")) <= 16 < len(header)


def test_a_secret_of_several_lines_is_hidden_line_by_line() -> None:
    shown = mask(LINES.encode(), forms([LINES]))
    assert shown == b"[secret]\n[secret]\n\nab\n"


def test_a_secret_inside_json_is_hidden() -> None:
    value = 'pass"word\\with\ttrouble ü'
    assert "trouble" not in mask(json.dumps({"k": value}).encode(), forms([value])).decode()


def test_short_values_are_no_secrets() -> None:
    assert mask(b"abc 123", forms(["abc", "123", ""])) == b"abc 123"


def test_overlapping_secrets_are_hidden_as_one() -> None:
    assert mask(b"-abcdef-", forms(["abcd", "cdef"])) == b"-[secret]-"


@pytest.mark.parametrize("seed", range(20))
def test_chunks_never_reveal_a_secret(seed: int) -> None:
    chance = random.Random(seed)
    hidden = forms([SECRET, LINES])
    parts = [
        b"step 1 \xff\xfe ",
        SECRET.encode(),
        b"\n",
        LINES.encode(),
        b"c",
        b"correct horse",
        base64.b64encode(SECRET.encode()),
    ]
    text = b"".join(chance.choice(parts) for _ in range(200))
    masker, shown, at = LineMasker(hidden), b"", 0
    while at < len(text):
        step = chance.randint(1, 40)
        shown += masker.feed(text[at : at + step])
        at += step
        if chance.random() < 0.5:
            shown += masker.idle()
    shown += masker.close()
    assert not any(form in shown for form in hidden)
    assert shown.removesuffix(b"\n") == mask(text, hidden).removesuffix(b"\n")


def test_a_huge_line_is_split_without_revealing_a_secret() -> None:
    hidden = forms([SECRET])
    for before in range(masking.LONGEST_LINE - len(SECRET) - 2, masking.LONGEST_LINE + 2):
        masker = LineMasker(hidden)
        text = b"." * before + SECRET.encode() + b"." * masking.LONGEST_LINE
        shown = b"".join(masker.feed(text[i : i + 4096]) for i in range(0, len(text), 4096))
        shown += masker.close()
        assert shown.replace(b"\n", b"") == mask(text, hidden)
        assert max(map(len, shown.split(b"\n"))) < masking.LONGEST_LINE + 8192


def test_an_incomplete_line_is_shown_when_idle_except_the_beginning_of_a_secret() -> None:
    masker = LineMasker(forms([SECRET]))
    assert masker.feed(b"loading: correct ho") == b""
    assert masker.idle() == b"loading: "
    assert masker.feed(SECRET.encode()[len("correct ho") :] + b" done\n") == b"[secret] done\n"
    assert not masker.pending


def test_rotation_keeps_one_old_file_and_every_recent_line(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    log = ReplicaLog(path, (), complain, limit=1000)
    for number in range(500):
        log.feed(b"line %d\n" % number)
    log.close()
    assert sorted(os.listdir(tmp_path)) == ["log", "log.1"]
    assert all(os.path.getsize(tmp_path / name) <= 1010 for name in ("log", "log.1"))
    assert tail_lines(path, 60) == [f"line {number}" for number in range(440, 500)]


def test_tail_reads_long_lines_and_strange_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "READ_BYTES", 7)
    path = tmp_path / "log"
    path.write_bytes(b"one\n" + b"\xff\xfe two\r\n" + "drei ü".encode())
    assert tail_lines(str(path), 2) == ["\ufffd\ufffd two", "drei ü"]
    assert tail_lines(str(path), 9) == ["one", "\ufffd\ufffd two", "drei ü"]
    assert tail_lines(str(path), 0) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no disk that is always full")
def test_a_full_disk_is_told_once_and_survived(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.symlink_to("/dev/full")
    told: list[str] = []
    log = ReplicaLog(str(path), (), told.append)
    for _ in range(3):
        log.feed(b"lost\n")
    assert told == [f"{path}: output is dropped: No space left on device"]
    log.close()
    path.unlink()
    log.feed(b"back\n")
    log.close()
    assert path.read_text() == "--- 15 bytes of output are missing here ---\nback\n"


def test_secrets_reach_replicas_and_nothing_else(place: Place) -> None:
    place.launch(
        python(
            "chief-0",
            """
import base64, os, sys, time
value = os.environ["TOKEN"]
print(f"it is {value}", flush=True)
print(base64.b64encode(value.encode()).decode(), file=sys.stderr)
for part in (value[:7], value[7:]):
    sys.stdout.write(part)
    sys.stdout.flush()
    time.sleep(0.7)
print("\\n" + os.environ["KEY"], end="")
sys.exit(value != os.environ["EXPECTED"][::-1])
""",
            EXPECTED=SECRET[::-1],
        ),
        secrets={"TOKEN": SECRET, "KEY": LINES},
    )
    place.until_gone()
    assert place.status().state == "Succeeded"
    assert client.tail(place.state, "chief-0", 9) == [
        "it is [secret]",
        "[secret]",
        "[secret]",
        "[secret]",
        "[secret]",
        "",
        "ab",
    ]
    for folder, _, names in os.walk(place.state):
        for name in names:
            content = (Path(folder) / name).read_bytes()
            assert SECRET.encode() not in content, name
            assert b"line of it" not in content, name


def test_bytes_that_are_no_text_survive(place: Place) -> None:
    place.launch(shell("chief-0", r"printf '\377\376\n\001 no newline at the end'"))
    place.until_gone()
    log = place.state / "logs" / "chief-0.log"
    assert log.read_bytes() == b"\xff\xfe\n\x01 no newline at the end\n"


def test_a_flood_of_output_arrives_whole(place: Place) -> None:
    place.launch(shell("chief-0", "seq 200000"), shell("worker-0", "seq 200000; exec sleep 1000"))
    place.until_gone()
    lines = (place.state / "logs" / "chief-0.log").read_text().split()
    assert lines == [str(number) for number in range(1, 200001)]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ([], []),
        (["a", "b"], ["a", "b"]),
        (["a", "--- started at x, attempt 2 ---", "b"], ["b"]),
        (["--- started at x, attempt 1 ---", "--- started at x, attempt 2 ---"], []),
    ],
)
def test_only_what_the_last_start_wrote_counts(lines: list[str], left: list[str]) -> None:
    assert logs.since_start(lines) == left
