"""Writes images as OCI archives, byte for byte the same for the same content."""

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Image:
    """An image of one layer, whose paths have no leading `/`. `programs` are copied from this
    machine; a link leads where its value says."""

    entrypoint: Sequence[str]
    programs: Mapping[str, Path] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()
    environment: Sequence[str] = ("PATH=/usr/local/bin:/usr/bin:/bin",)


def write_archive(image: Image, archive: Path) -> Path:
    """Writes `archive`, which `import_image` takes."""
    layer = _layer(image)
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {
            "Entrypoint": list(image.entrypoint),
            "Cmd": list(image.command),
            "Env": list(image.environment),
        },
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
        "history": [{"created_by": "ack-training"}],
    }
    blobs = {_digest(layer): layer}

    def described(content: bytes, kind: str) -> dict[str, object]:
        blobs[_digest(content)] = content
        media_type = f"application/vnd.oci.image.{kind}"
        return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}

    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described(_json(config), "config.v1+json"),
        "layers": [described(layer, "layer.v1.tar")],
    }
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [described(_json(manifest), "manifest.v1+json")],
    }
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
        _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}), 0o644)
        _add(tar, "index.json", _json(index), 0o644)
        for digest, content in sorted(blobs.items()):
            _add(tar, f"blobs/{digest.replace(':', '/')}", content, 0o644)
    return archive


def _layer(image: Image) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in sorted(image.folders):
            entry = tarfile.TarInfo(folder)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o1777 if folder == "tmp" else 0o755
            tar.addfile(entry)
        for name, program in sorted(image.programs.items()):
            _add(tar, name, program.read_bytes(), 0o755)
        for name, text in sorted(image.files.items()):
            _add(tar, name, text.encode(), 0o644)
        for name, target in sorted(image.links.items()):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
