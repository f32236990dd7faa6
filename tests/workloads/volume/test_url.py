"""Datasets by URL: fetched, checked, unpacked; a real server of this machine answers."""

from __future__ import annotations

import hashlib
import http.server
import io
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.workloads.volume.harness import names, run
from workloads.volume import download as download_module
from workloads.volume.download import download, file_name, shown_url
from workloads.volume.filling import Dataset
from workloads.volume.place import Refused, Volume
from workloads.volume.record import RECORD
from workloads.volume.sources import fill_from_url

Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


@dataclass
class Web:
    """A server; `answers` are used up one by one, then `content` is what every path has."""

    url: str = ""
    content: bytes = b"the data"
    answers: list[Answer] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def file(self, name: str) -> str:
        return f"{self.url}/{name}"


@pytest.fixture
def web() -> Iterator[Web]:
    state = Web()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            if state.answers:
                state.answers.pop(0)(self)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(state.content)))
            self.end_headers()
            self.wfile.write(state.content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between two tries, which takes no time here."""
    found: list[float] = []

    def fetch(url: str, sha256: str, target: Path) -> None:
        download(url, sha256, target, found.append)

    monkeypatch.setattr("workloads.volume.sources.download", fetch)
    return found


@pytest.fixture
def dataset(volume: Volume, datasets: Path) -> Dataset:
    return Dataset(volume, "texts")


def status(code: int) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def cut_off(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    handler.wfile.write(b"the")


def hang_up(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def tarred(mode: str, *members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def zipped(*members: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in members:
            archive.writestr(info, content)
    return buffer.getvalue()


def test_a_file_is_stored_under_its_own_name(web: Web, dataset: Dataset, datasets: Path) -> None:
    url = web.file("deep/all%20words.txt?signature=secret")
    sentence = fill_from_url(dataset, url, web.sha256)
    assert sentence == (
        f"/srv/training/datasets/texts was filled from {web.file('deep/all%20words.txt')}: 1 file"
    )
    assert names(datasets) == ["texts"]
    assert names(datasets / "texts") == [RECORD, "all words.txt"]
    assert (datasets / "texts" / "all words.txt").read_bytes() == web.content
    assert b"secret" not in (datasets / "texts" / RECORD).read_bytes()
    assert web.asked == ["/deep/all%20words.txt?signature=secret"]


def test_what_is_there_is_not_fetched_again(web: Web, dataset: Dataset) -> None:
    fill_from_url(dataset, web.file("a.txt"), web.sha256)
    assert "nothing was changed" in fill_from_url(dataset, web.file("a.txt"), web.sha256)
    assert web.asked == ["/a.txt"]


@pytest.mark.parametrize(("suffix", "mode"), [("tar.gz", "w:gz"), ("TGZ", "w:gz"), ("tar", "w")])
def test_a_tar_is_unpacked(
    web: Web, dataset: Dataset, datasets: Path, suffix: str, mode: str
) -> None:
    web.content = tarred(
        mode,
        (member("./data", tarfile.DIRTYPE), b""),
        (member("data/a"), b"aaa"),
        (member("data/link", tarfile.SYMTYPE, "a"), b""),
        (member("data/hard", tarfile.LNKTYPE, "data/a"), b""),
    )
    sentence = fill_from_url(dataset, web.file(f"x.{suffix}"), web.sha256)
    assert sentence.endswith("3 files")
    assert names(datasets) == ["texts"]
    assert names(datasets / "texts" / "data") == ["a", "hard", "link"]
    assert (datasets / "texts" / "data" / "hard").read_bytes() == b"aaa"


def test_a_zip_is_unpacked(web: Web, dataset: Dataset, datasets: Path) -> None:
    web.content = zipped(("data/a", b"aaa"), ("b", b"b" * 100000))
    assert fill_from_url(dataset, web.file("x.zip"), web.sha256).endswith("2 files")
    assert (datasets / "texts" / "data" / "a").read_bytes() == b"aaa"


def test_another_file_than_the_one_meant_is_refused(
    web: Web, dataset: Dataset, datasets: Path
) -> None:
    wanted = "0" * 64
    with pytest.raises(Refused) as refused:
        fill_from_url(dataset, web.file("a.tar?k=1"), wanted)
    assert refused.value.sentences == (
        f"the file at {web.file('a.tar')} has the SHA-256 {web.sha256}, not {wanted}: it is "
        "another file than the one that ack-training:datasets names",
    )
    assert names(datasets) == []
    assert len(web.asked) == 1


def symlink_in_zip() -> bytes:
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    return zipped((info, b"/etc"))


def with_password() -> bytes:
    content = bytearray(zipped(("a", b"secret")))
    # The flag of an encrypted member, in both of its headers.
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.tar", tarred("w", (member("/etc/evil"), b"x")), "'/etc/evil' leads out"),
        ("x.tar", tarred("w", (member("../evil"), b"x")), "'../evil' leads out"),
        ("x.tar", tarred("w", (member("a/../../evil"), b"x")), "'a/../../evil' leads out"),
        ("x.tar", tarred("w", (member("l", tarfile.SYMTYPE, "/etc"), b"")), "absolute path"),
        ("x.tar", tarred("w", (member("l", tarfile.SYMTYPE, "../../x"), b"")), "outside"),
        ("x.tar", tarred("w", (member("l", tarfile.LNKTYPE, "../../x"), b"")), "outside"),
        ("x.tar", tarred("w", (member("l", tarfile.LNKTYPE, "gone"), b"")), "leads to nothing"),
        ("x.tar", tarred("w", (member("d", tarfile.CHRTYPE), b"")), "special file"),
        ("x.tar", tarred("w", (member("p", tarfile.FIFOTYPE), b"")), "special file"),
        (
            "x.tar",
            tarred(
                "w",
                (member("d", tarfile.DIRTYPE), b""),
                (member("d/l", tarfile.SYMTYPE, ".."), b""),
                (member("d/l/m", tarfile.SYMTYPE, "../.."), b""),
            ),
            "outside",
        ),
        ("x.tar", b"no archive", "cannot be unpacked"),
        ("x.tar.gz", b"no archive", "cannot be unpacked"),
        ("x.tar.gz", tarred("w:gz", (member("a"), b"x" * 9999))[:-30], "cannot be unpacked"),
        ("x.tgz", tarred("w", (member("a"), b"x")), "cannot be unpacked"),
        ("x.zip", b"no archive", "cannot be unpacked"),
        ("x.zip", zipped(("../evil", b"x")), "'../evil' leads out"),
        ("x.zip", zipped(("/evil", b"x")), "'/evil' leads out"),
        ("x.zip", symlink_in_zip(), "'link' is a link"),
        ("x.zip", with_password(), "'a' has a password"),
    ],
)
def test_an_evil_or_broken_archive_leaves_nothing(
    web: Web,
    dataset: Dataset,
    datasets: Path,
    root: Path,
    name: str,
    content: bytes,
    told: str,
) -> None:
    web.content = content
    with pytest.raises(Refused) as refused:
        fill_from_url(dataset, web.file(name), web.sha256)
    (sentence,) = refused.value.sentences
    assert sentence.startswith(name)
    assert told in sentence
    assert "\n" not in sentence
    assert names(datasets) == []
    assert names(root) == ["datasets"]


@pytest.mark.parametrize("trouble", [status(503), status(429), cut_off, hang_up])
def test_what_may_pass_is_tried_again(
    web: Web, dataset: Dataset, datasets: Path, trouble: Answer, waits: list[float]
) -> None:
    web.answers = [trouble, trouble]
    assert "was filled" in fill_from_url(dataset, web.file("a"), web.sha256)
    assert waits == [1, 3]
    assert (datasets / "texts" / "a").read_bytes() == web.content


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (status(503), "the server answers 503 Service Unavailable"),
        (cut_off, "it ended after 3 of 1000000 bytes"),
        (hang_up, "Remote end closed connection without response"),
    ],
)
def test_what_does_not_pass_is_told(
    web: Web, dataset: Dataset, datasets: Path, trouble: Answer, told: str, waits: list[float]
) -> None:
    web.answers = [trouble] * 9
    with pytest.raises(Refused) as refused:
        fill_from_url(dataset, web.file("a?k=1"), web.sha256)
    assert refused.value.sentences == (f"{web.file('a')} cannot be fetched: {told}",)
    assert waits == [1, 3, 10]
    assert names(datasets) == []


@pytest.mark.parametrize("code", [401, 403, 404, 410])
def test_what_cannot_pass_is_told_at_once(
    web: Web, dataset: Dataset, code: int, waits: list[float]
) -> None:
    web.answers = [status(code)]
    with pytest.raises(Refused, match=f"cannot be fetched: the server answers {code} "):
        fill_from_url(dataset, web.file("a"), web.sha256)
    assert waits == []


def test_nobody_there(web: Web, dataset: Dataset, waits: list[float]) -> None:
    web.url = "http://127.0.0.1:1"
    with pytest.raises(Refused, match=r"http://127.0.0.1:1/a cannot be fetched: .*refused"):
        fill_from_url(dataset, web.file("a"), web.sha256)
    assert waits == [1, 3, 10]


def test_a_server_that_falls_silent_is_given_up(
    web: Web, dataset: Dataset, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    monkeypatch.setattr(download_module, "_TIMEOUT_SECONDS", 0.2)

    def silent(handler: http.server.BaseHTTPRequestHandler) -> None:
        done.wait()
        handler.close_connection = True

    web.answers = [silent] * 4
    try:
        with pytest.raises(Refused, match=r"cannot be fetched: .*timed out"):
            fill_from_url(dataset, web.file("a"), web.sha256)
    finally:
        done.set()


def test_a_proxy_of_the_environment_is_used(web: Web, root: Path, datasets: Path) -> None:
    ran = run(
        [
            *("url", f"--root={root}", "--path=/srv/training", "--where=the node", "--owner=o/p/s"),
            *("texts", "http://data.invalid/a.txt", web.sha256),
        ],
        {"http_proxy": web.url},
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert web.asked == ["http://data.invalid/a.txt"]
    assert (datasets / "texts" / "a.txt").read_bytes() == web.content


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com", "data"),
        ("https://example.com/", "data"),
        ("https://example.com/a/", "data"),
        ("https://example.com/a/b.tar.gz?x=/y", "b.tar.gz"),
        ("https://example.com/a/..", "data"),
        ("https://example.com/%2e%2e%2Fevil", "evil"),
        ("https://example.com/a%00b", "data"),
    ],
)
def test_names_of_files(url: str, name: str) -> None:
    assert file_name(url) == name
    assert shown_url(url) == url.split("?")[0]
