"""Pulumi's official release: taken whole, verified, or not at all."""

import hashlib
import http.client
import io
import platform
import socketserver
import tarfile
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolchain import download
from toolchain.report import Stop


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "pulumi-v1.2.3-linux-x64.tar.gz"),
        ("Darwin", "arm64", "pulumi-v1.2.3-darwin-arm64.tar.gz"),
        ("Linux", "riscv64", None),
        ("Plan9", "x86_64", None),
    ],
)
def test_archive_name(system: str, machine: str, name: str | None) -> None:
    assert download.archive_name("1.2.3", system, machine) == name


def test_checksum_is_that_of_the_named_archive() -> None:
    good, other = "A" * 64, "b" * 64
    sums = f"{other}  pulumi-v1-linux-arm64.tar.gz\n{good}  pulumi-v1-linux-x64.tar.gz\n<html>\n"
    assert download.checksum(sums, "pulumi-v1-linux-x64.tar.gz") == good.lower()
    assert download.checksum(sums, "pulumi-v2-linux-x64.tar.gz") is None
    assert download.checksum("short  pulumi-v1-linux-x64.tar.gz", "x") is None


def test_offline_asks_nothing_of_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("ACK_TRAINING_OFFLINE", "1")
    monkeypatch.setattr(download, "_read_quickly", lambda url: pytest.fail(f"asked {url}"))
    assert download.downloaded_engine("3.274.1") is None


def release(path: Path, members: dict[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("pulumi/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_release_is_downloaded_verified_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = download.archive_name("9.9.9", "Linux", "x86_64")
    assert archive is not None
    served = tmp_path / "served" / "v9.9.9"
    served.mkdir(parents=True)
    members = {"pulumi/pulumi": b"#!/bin/sh\n", "pulumi/../../evil": b"x", "evil": b"x"}
    digest = release(served / archive, members)
    (served / "pulumi-9.9.9-checksums.txt").write_text(f"{digest}  {archive}\n")
    monkeypatch.setattr(download, "_RELEASES", (tmp_path / "served").as_uri())
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ACK_TRAINING_OFFLINE", raising=False)

    folder = download.downloaded_engine("9.9.9")
    assert folder is not None
    assert [file.name for file in folder.iterdir()] == ["pulumi"]
    assert (folder / "pulumi").stat().st_mode & 0o111
    assert not list(tmp_path.rglob("evil"))
    # Kept: found again without the network.
    monkeypatch.setenv("ACK_TRAINING_OFFLINE", "1")
    assert download.downloaded_engine("9.9.9") == folder


def test_a_damaged_release_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = download.archive_name("9.9.9", "Linux", "x86_64")
    assert archive is not None
    served = tmp_path / "v9.9.9"
    served.mkdir()
    release(served / archive, {"pulumi/pulumi": b"x"})
    (served / "pulumi-9.9.9-checksums.txt").write_text(f"{'0' * 64}  {archive}\n")
    monkeypatch.setattr(download, "_RELEASES", tmp_path.as_uri())
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ACK_TRAINING_OFFLINE", raising=False)
    with pytest.raises(Stop, match="damaged"):
        download.downloaded_engine("9.9.9")
    assert list((tmp_path / "cache" / "ack-training").iterdir()) == []


class _Babble(socketserver.StreamRequestHandler):
    """A proxy that answers in no language that a client knows."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b"login required\r\n\r\n")


@pytest.fixture
def babble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of releases behind such a proxy, for a Linux machine with an empty cache."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("ACK_TRAINING_OFFLINE", raising=False)
    with socketserver.TCPServer(("127.0.0.1", 0), _Babble) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setattr(download, "_RELEASES", address)
        yield address
        server.shutdown()
        thread.join()


def test_a_proxy_that_answers_nonsense_is_no_release(babble: str) -> None:
    with pytest.raises(http.client.HTTPException):
        urllib.request.urlopen(babble)
    # An error left in the thread that asks would fail this test.
    assert download.downloaded_engine("9.9.9") is None


def test_a_download_that_becomes_nonsense_breaks_off_in_one_line(
    babble: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    archive = download.archive_name("9.9.9", "Linux", "x86_64")
    monkeypatch.setattr(download, "_read_quickly", lambda url: f"{'0' * 64}  {archive}\n")
    cache = tmp_path / "cache" / "ack-training"
    (cache / "download-of-one-that-was-killed").mkdir(parents=True)
    assert download.downloaded_engine("9.9.9") is None
    assert "the download broke off (login required" in capsys.readouterr().out
    assert list(cache.iterdir()) == []
