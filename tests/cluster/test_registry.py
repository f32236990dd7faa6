"""buildah and skopeo with real registries on this machine: what is pushed is found again, what is
there is left, and a registry that refuses says so in one line. The image is of one small file."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.unpacked_image import UnpackedImage
from toolchain.builders import Build, Builder, find_builder, succeeds
from toolchain.image_build import run_at_registry, save_image
from toolchain.image_mirror import mirror_images
from toolchain.report import Stop

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("image_tools", "own_home")]

_ACCESS = "auth: {{htpasswd: {{realm: test, path: {file}}}}}\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def registry(home: Path) -> Iterator[str]:
    """One that takes what anyone pushes."""
    yield from _registry(home / "open", "")


@pytest.fixture(scope="module")
def closed_registry(home: Path) -> Iterator[str]:
    """One that asks who is there, and knows nobody."""
    (home / "nobody").write_text("")
    yield from _registry(home / "closed", _ACCESS.format(file=home / "nobody"))


def _registry(folder: Path, access: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    folder.mkdir()
    settings = folder / "config.yml"
    settings.write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {folder}}}}}\n"
        f"http: {{addr: '{address}'}}\n{access}"
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["docker-registry", "serve", str(settings)], stdout=log, stderr=log
        )
    try:
        deadline = time.monotonic() + 60
        while not _answers(address):
            assert process.poll() is None and time.monotonic() < deadline, folder / "log"
            time.sleep(0.02)
        yield address
    finally:
        process.kill()
        process.wait()


def _answers(address: str) -> bool:
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


@pytest.fixture
def own_home(
    home: Path, registry: str, closed_registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user of their own for buildah and skopeo, who trusts both registries without TLS."""
    settings = home / ".config" / "containers"
    settings.mkdir(parents=True, exist_ok=True)
    trusted = (
        f'[[registry]]\nlocation = "{at}"\ninsecure = true\n' for at in (registry, closed_registry)
    )
    (settings / "registries.conf").write_text("".join(trusted))
    # vfs: nothing is ever mounted.
    (settings / "storage.conf").write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{home}/storage"\nrunroot = "{home}/run"\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(settings / "storage.conf"))
    monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(settings / "registries.conf"))
    monkeypatch.setenv("BUILDAH_ISOLATION", "chroot")


@pytest.fixture
def builder(own_home: None) -> Builder:
    assert shutil.which("skopeo")
    found = find_builder("buildah")
    assert found == Builder("buildah", skopeo=True)
    return found


def built(builder: Builder, name: str, folder: Path) -> str:
    context = folder / "context"
    context.mkdir()
    (context / "file").write_text(name)
    dockerfile = context / "Dockerfile"
    dockerfile.write_text("FROM scratch\nARG VERSION\nCOPY file /\nLABEL version=${VERSION}\n")
    build = Build(name, dockerfile, context, {"VERSION": "7"})
    subprocess.run(builder.build(build), check=True, capture_output=True)
    return name


def digest(name: str) -> str:
    asked = ["skopeo", "inspect", "--no-tags", f"docker://{name}"]
    ran = subprocess.run(asked, check=True, capture_output=True)
    found: str = json.loads(ran.stdout)["Digest"]
    return found


def test_what_is_built_is_here_and_what_is_pushed_is_there(
    builder: Builder, registry: str, tmp_path: Path
) -> None:
    name = f"{registry}/team/pushed:1"
    assert not succeeds(builder.is_here(name))
    built(builder, name, tmp_path)
    assert succeeds(builder.is_here(name))
    assert not succeeds(builder.is_in_registry(name))
    run_at_registry(builder, builder.push(name), registry, "not pushed")
    assert succeeds(builder.is_in_registry(name))


def test_without_skopeo_the_registry_is_asked_as_well(
    builder: Builder, registry: str, tmp_path: Path
) -> None:
    alone, name = Builder("buildah"), f"{registry}/team/fetched:1"
    assert not succeeds(alone.is_in_registry(name))
    run_at_registry(alone, alone.push(built(alone, name, tmp_path)), registry, "not pushed")
    assert succeeds(alone.is_in_registry(name))


def test_a_copy_has_the_same_digest_and_is_made_once(
    builder: Builder, registry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"{registry}/theirs/tool:1"
    run_at_registry(builder, builder.push(built(builder, source, tmp_path)), registry, "")
    exact = f"{source}@{digest(source)}"
    copies = {source: f"{registry}/ours/tool:1", exact: f"{registry}/mine/tool:1@{digest(source)}"}
    mirror_images(builder, copies, registry)
    assert "already there" not in capsys.readouterr().out
    assert digest(f"{registry}/ours/tool:1") == digest(f"{registry}/mine/tool:1") == digest(source)
    mirror_images(builder, copies, registry)
    assert capsys.readouterr().out.splitlines() == [
        f"{registry}/ours/tool:1 is already there",
        f"{registry}/mine/tool:1 is already there",
    ]


def test_who_is_not_logged_in_is_told_how(
    builder: Builder, registry: str, closed_registry: str, tmp_path: Path
) -> None:
    line = f"unauthorized: authentication required; log in first: buildah login {closed_registry}"
    name = built(builder, f"{closed_registry}/team/a:1", tmp_path)
    with pytest.raises(Stop) as pushing:
        run_at_registry(builder, builder.push(name), f"{closed_registry}/team", "not pushed")
    assert str(pushing.value) == f"not pushed: {line}"
    with pytest.raises(Stop) as copying:
        mirror_images(builder, {name: f"{closed_registry}/team/b:1"}, f"{closed_registry}/team")
    assert str(copying.value) == f"{name} was not copied: {line}"


def test_an_archive_carries_the_name_that_nodes_look_for(builder: Builder, tmp_path: Path) -> None:
    name = built(builder, "small:1", tmp_path)
    save_image(builder, name, tmp_path / "small.tar")
    image = UnpackedImage(tmp_path / "small.tar", tmp_path)
    assert image.name == "docker.io/library/small:1"
    assert image.config["Labels"]["version"] == "7"
    assert (image.root / "file").read_text() == name
