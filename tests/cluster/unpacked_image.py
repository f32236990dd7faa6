"""An image's files and settings, read from its archive, and programs run in it as a pod would."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.cluster.isolated import isolated

_IN_IMAGE = """
set -e
root=$1 user=$2
shift 2
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp -r "$CODE" "$root/tmp/code"
exec chroot --userspec="$user:$user" "$root" /usr/bin/env -i "$@"
"""


class UnpackedImage:
    """`root` has the image's files with their owners; `config` is what a container is started
    with; `layers` are the layers' sizes as they are transferred, in bytes, the base's first."""

    def __init__(self, archive: Path, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        with tarfile.open(archive) as tar:
            index = _json(tar, "index.json")
            (described,) = index["manifests"]
            self.name = described["annotations"]["org.opencontainers.image.ref.name"]
            manifest = _json(tar, _blob(described["digest"]))
            described_config = _json(tar, _blob(manifest["config"]["digest"]))
            self.config: dict[str, Any] = described_config["config"]
            self.history = json.dumps(described_config["history"])
            self.layers = [layer["size"] for layer in manifest["layers"]]
            for number, layer in enumerate(manifest["layers"]):
                content = tar.extractfile(_blob(layer["digest"]))
                assert content
                file = folder / f"layer-{number}"
                with content, file.open("wb") as out:
                    shutil.copyfileobj(content, out)
                unpack = ["tar", "-xpf", str(file), "--numeric-owner", "-C", str(self.root)]
                subprocess.run(unpack, check=True)
                file.unlink()

    def run(
        self, command: Sequence[str], user: int, code: Path
    ) -> subprocess.CompletedProcess[str]:
        """Runs `command` as a pod with a root file system that is read-only, and a /tmp of its own
        where `code` lies and is on the PYTHONPATH."""
        environment = [*self.config["Env"], "PYTHONPATH=/tmp/code"]
        arguments = [str(self.root), str(user), *environment, *command]
        return subprocess.run(
            isolated(["sh", "-c", _IN_IMAGE, "sh", *arguments]),
            env={"CODE": str(code), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


def _json(tar: tarfile.TarFile, name: str) -> dict[str, Any]:
    content = tar.extractfile(name)
    assert content
    with content:
        read: dict[str, Any] = json.load(content)
    return read


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"
