"""Free ports."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from provider import ports
from provider.ports import claim, free_ports, is_free, release

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(ports._handed_out)
    yield
    for port in set(ports._handed_out) - before:
        release(port)


def test_ports_are_different_and_below_the_ephemeral_range() -> None:
    found = free_ports(50)
    assert len(set(found)) == 50
    assert max(found) < 32768
    assert not set(free_ports(50)) & set(found)


@pytest.mark.parametrize("host", ["127.0.0.1", ""])
def test_a_taken_port_is_not_free(host: str) -> None:
    with socket.socket() as taken:
        taken.bind((host, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        assert not claim(port)
    assert is_free(port)


def test_a_port_is_claimed_once_until_it_is_released() -> None:
    (port,) = free_ports(1)
    assert not claim(port)
    release(port)
    assert claim(port)
    assert not claim(port)
    release(port)
    release(port)
    assert claim(port)


def test_another_process_does_not_get_a_claimed_port(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    release(port)
    code = (
        f"import sys, tempfile; tempfile.tempdir = {str(tmp_path)!r}; from provider import ports; "
        f"print(ports.claim({port}), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert not claim(port)
        other.communicate()
    assert claim(port)


def test_without_a_place_for_claims_ports_are_still_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    (port,) = free_ports(1)
    release(port)
    assert claim(port)
