"""The real CPU image, built by `make image` where no image can be pulled: its base is a Debian that
debootstrap makes from packages. Each is made once and kept outside the checkout."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.cluster.isolated import isolated, run_isolated
from toolchain.image_tag import image_name
from toolchain.places import ROOT, cache, exclusively, make_folder

NEEDED = ("buildah", "debootstrap", "setpriv", "unshare")
"""The programs without which there is no image here."""

_SUITE = "bookworm"
_PACKAGES = ("ca-certificates", "python3", "python3-venv")
_EMPTIED = ("dev", "usr/share/doc", "usr/share/man", "usr/share/locale", "var/cache/apt")
_EMPTIED_TOO = ("var/lib/apt/lists", "var/log")
_KEPT = 3
"""Archives of this many images are kept; a checkout of another branch may be in use too."""


class ReplicaImage(NamedTuple):
    """`archive` is an OCI archive; `name` is the image's whole name, as in the archive."""

    archive: Path
    name: str


def replica_image() -> ReplicaImage:
    """The CPU image of this checkout, built when this user's cache does not have it (minutes).

    A build that was killed leaves files alone, which the next one removes.
    """
    name = image_name("cpu", None)
    folder = cache() / "images"
    make_folder(folder)
    archive = folder / f"{name.replace(':', '-')}-{_base_key()}.tar"
    with exclusively(folder, "building the images of the tests"):
        if not archive.exists():
            base = _base(folder)
            with _work(folder) as work:
                _build(work, base, work / "image.tar")
                os.replace(work / "image.tar", archive)
        os.utime(archive)
        for old in sorted(folder.glob("ack-training-cpu-*.tar"), key=_used)[:-_KEPT]:
            old.unlink()
    return ReplicaImage(archive, f"docker.io/library/{name}")


def _used(archive: Path) -> float:
    return archive.stat().st_mtime


def _base_key() -> str:
    made_of = "\n".join([_SUITE, *_PACKAGES, *_EMPTIED, *_EMPTIED_TOO])
    return hashlib.sha256(made_of.encode()).hexdigest()[:12]


def _base(folder: Path) -> Path:
    """The archive of the base image: Debian with Python."""
    archive = folder / f"debian-python-{_base_key()}.tar"
    if archive.exists():
        return archive
    with _work(folder) as work:
        log, rootfs = work / "log", work / "rootfs"
        wanted = f"--include={','.join(_PACKAGES)}"
        command = ["debootstrap", "--variant=minbase", wanted, _SUITE, str(rootfs)]
        run_isolated([*command, *_mirror()], {}, log)
        for emptied in (*_EMPTIED, *_EMPTIED_TOO):
            shutil.rmtree(rootfs / emptied)
            (rootfs / emptied).mkdir()
        # Owners and modes come with an archive; a folder that is copied would lose them.
        run_isolated(["tar", "-cf", str(work / "rootfs.tar"), "-C", str(rootfs), "."], {}, log)
        (work / "Dockerfile").write_text("FROM scratch\nADD rootfs.tar /\n", encoding="utf-8")
        buildah = _own_storage(work)
        run_isolated(["buildah", "build", "--tag=base", "--format=oci", str(work)], buildah, log)
        run_isolated(["buildah", "push", "base", f"oci-archive:{work}/base.tar"], buildah, log)
        os.replace(work / "base.tar", archive)
    return archive


def _mirror() -> list[str]:
    """Where this machine's apt has the suite from; debootstrap knows one itself."""
    asked = ["apt-get", "indextargets", "--format=$(SITE)", "Identifier: Packages"]
    listed = subprocess.run(
        [*asked, f"Release: {_SUITE}", "Component: main"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.stdout.split()[:1]


def _build(work: Path, base: Path, archive: Path) -> None:
    made = [sys.executable, "-m", "workloads.image_command", "--image=cpu", "--push=0"]
    environment = {**_own_storage(work), "BUILDER": "buildah", "PYTHONPATH": str(ROOT)}
    run_isolated(
        [*made, f"--python-image=oci-archive:{base}", f"--archive={archive}"],
        environment,
        work / "log",
    )


def _own_storage(work: Path) -> dict[str, str]:
    """Has buildah keep all that it writes in `work`, and this user's images out of it."""
    lower, upper = work / "try" / "lower", work / "try" / "upper"
    for folder in (lower, upper, work / "try" / "work", work / "tmp"):
        folder.mkdir(parents=True, exist_ok=True)
    layers = f"lowerdir={lower},upperdir={upper},workdir={work}/try/work"
    mount = ["mount", "-t", "overlay", "-o", layers, "overlay", str(lower)]
    can = subprocess.run(isolated(mount), capture_output=True, check=False).returncode == 0
    settings = work / "storage.conf"
    settings.write_text(
        # vfs copies whole layers, but works where overlay does not: in a container.
        f'[storage]\ndriver = "{"overlay" if can else "vfs"}"\n'
        f'graphroot = "{work}/storage"\nrunroot = "{work}/run"\n',
        encoding="utf-8",
    )
    return {
        "CONTAINERS_STORAGE_CONF": str(settings),
        "BUILDAH_ISOLATION": "chroot",
        "TMPDIR": str(work / "tmp"),
    }


@contextmanager
def _work(folder: Path) -> Iterator[Path]:
    for leftover in folder.glob("building-*"):  # of one that was killed; no other is running
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix="building-", dir=folder))
    try:
        yield work
    finally:
        shutil.rmtree(work)
