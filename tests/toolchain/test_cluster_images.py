"""Images for a test cluster: written here, told apart by digest."""

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from toolchain.cluster.images import archived, image_digests
from toolchain.cluster.oci import Image, write_archive
from toolchain.report import Stop


@pytest.fixture
def image(tmp_path: Path) -> Image:
    program = tmp_path / "program"
    program.write_bytes(b"machine code")
    return Image(
        entrypoint=("/bin/program",),
        programs={"bin/program": program},
        files={"etc/passwd": "root:x:0:0::/:/bin/sh\n"},
        folders=("bin", "etc", "tmp"),
        links={"bin/sh": "program"},
    )


def read(archive: Path, name: str) -> bytes:
    with tarfile.open(archive) as tar:
        content = tar.extractfile(name)
        assert content is not None
        return content.read()


def blob(archive: Path, described: dict[str, Any]) -> bytes:
    """A described part of an archive, which must be what it is said to be."""
    content = read(archive, f"blobs/{described['digest'].replace(':', '/')}")
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" == described["digest"]
    assert len(content) == described["size"]
    return content


def test_an_archive_is_the_same_for_the_same_content(image: Image, tmp_path: Path) -> None:
    one = write_archive(image, tmp_path / "one.tar")
    (tmp_path / "program").touch()
    other = write_archive(image, tmp_path / "other.tar")
    assert one.read_bytes() == other.read_bytes()


def test_an_archive_holds_what_its_index_leads_to(image: Image, tmp_path: Path) -> None:
    archive = write_archive(image, tmp_path / "image.tar")
    assert json.loads(read(archive, "oci-layout")) == {"imageLayoutVersion": "1.0.0"}
    (described,) = json.loads(read(archive, "index.json"))["manifests"]
    manifest = json.loads(blob(archive, described))
    config = json.loads(blob(archive, manifest["config"]))
    (layer,) = manifest["layers"]
    assert config["rootfs"]["diff_ids"] == [layer["digest"]]
    assert config["config"]["Entrypoint"] == ["/bin/program"]
    unpacked = tmp_path / "layer.tar"
    unpacked.write_bytes(blob(archive, layer))
    with tarfile.open(unpacked) as tar:
        modes = {entry.name: entry.mode for entry in tar}
        assert modes["bin/program"] == 0o755
        assert modes["tmp"] == 0o1777
        assert tar.getmember("bin/sh").linkname == "program"
        assert {entry.mtime for entry in tar} == {0}


def test_an_archives_digest_follows_its_content(image: Image, tmp_path: Path) -> None:
    before, _ = archived(write_archive(image, tmp_path / "before.tar"))
    (tmp_path / "program").write_bytes(b"other machine code")
    assert archived(write_archive(image, tmp_path / "after.tar"))[0] != before


def test_an_archive_may_name_its_image_itself(tmp_path: Path) -> None:
    named = {"org.opencontainers.image.ref.name": "docker.io/library/own:1"}
    index = {"manifests": [{"digest": "sha256:12ab", "annotations": named}]}
    (tmp_path / "index.json").write_text(json.dumps(index))
    with tarfile.open(tmp_path / "own.tar", "w") as tar:
        tar.add(tmp_path / "index.json", "index.json")
    assert archived(tmp_path / "own.tar") == ("sha256:12ab", "docker.io/library/own:1")


def test_what_is_no_archive_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Stop, match=r"cannot read .*missing\.tar: No such file"):
        archived(tmp_path / "missing.tar")
    (tmp_path / "text.tar").write_text("no archive")
    with pytest.raises(Stop, match="is no OCI archive"):
        archived(tmp_path / "text.tar")
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        tar.add(tmp_path / "text.tar", "something")
    with pytest.raises(Stop, match="is no OCI archive"):
        archived(tmp_path / "other.tar")


def test_image_digests_of_a_listing() -> None:
    listing = (
        "REF                  TYPE                   DIGEST      SIZE    PLATFORMS   LABELS\n"
        "test.local/pause:1   application/vnd.oci    sha256:12ab 2.3 MiB linux/amd64 a=b\n"
    )
    assert image_digests(listing) == {"test.local/pause:1": "sha256:12ab"}
    assert image_digests("") == {}
