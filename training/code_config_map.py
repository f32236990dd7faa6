"""How a job's code gets into its pods: the program by a ConfigMap named by content, the runtime by
one of the namespace."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from config.jobs import Job
from config.program import program_contents
from workloads.pods import MANAGED_BY, Manifest

RUNTIME_CONFIG_MAP = "ack-training-runtime"
RUNTIME_KEY = "runtime.zip"
CODE_PATH = "/opt/ack-training/code"
RUNTIME_PATH = f"/opt/ack-training/{RUNTIME_KEY}"

_RUNTIME = Path(__file__).resolve().parent / "programs" / "runtime"
# ZIP's earliest. Equal sources have to make equal bytes.
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)


def code_config_map(job: Job, project: Path, namespace: str) -> Manifest | None:
    """The ConfigMap of the program's files, each under a key of its own so that a reviewer reads
    it; None for a job with a command.

    Its name says its content: other code is another ConfigMap, and pods that run keep theirs.
    """
    if job.program is None:
        return None
    contents = program_contents(project, job.program)
    digest = hashlib.sha256()
    for path, content in contents.items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    manifest: Manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"{job.name}-code-{digest.hexdigest()[:10]}",
            "namespace": namespace,
            "labels": MANAGED_BY,
        },
        "immutable": True,
    }
    for key, path in code_keys(contents).items():
        try:
            manifest.setdefault("data", {})[key] = contents[path].decode("utf-8")
        except UnicodeDecodeError:
            encoded = base64.b64encode(contents[path]).decode("ascii")
            manifest.setdefault("binaryData", {})[key] = encoded
    return manifest


def code_keys(contents: dict[str, Any]) -> dict[str, str]:
    """ConfigMap key → path. A key has no slashes: the path's dots and letters stand for it."""
    keys: dict[str, str] = {}
    for path in contents:
        plain = "".join(
            letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "."
            for letter in path.replace("/", ".")
        )[-200:]
        key, number = plain, 2
        while key in keys:
            key, number = f"{number}.{plain}", number + 1
        keys[key] = path
    return keys


def runtime_config_map(namespace: str) -> Manifest:
    """The ConfigMap of the runtime that programs train with, as one archive that Python imports
    from. A pod gets it when it starts and keeps it: it is mounted by subPath, which no update
    reaches. Its name stays, so that an upgrade of the runtime trains no finished job again."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": RUNTIME_CONFIG_MAP,
            "namespace": namespace,
            "labels": MANAGED_BY,
        },
        "binaryData": {RUNTIME_KEY: base64.b64encode(_runtime_archive()).decode("ascii")},
    }


@cache
def _runtime_archive() -> bytes:
    buffer = io.BytesIO()
    # Stored, not deflated: what zlib makes of the same bytes depends on its version.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for source in sorted(_RUNTIME.rglob("*.py")):
            name = source.relative_to(_RUNTIME.parent).as_posix()
            entry = zipfile.ZipInfo(name, _TIMESTAMP)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, source.read_bytes())
    return buffer.getvalue()
