"""How code gets into pods."""

from __future__ import annotations

import base64
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from config import ConfigErrors, parse
from tests.training.cluster_stacks import job_of
from training.code_config_map import (
    RUNTIME_KEY,
    code_config_map,
    code_keys,
    runtime_config_map,
)

PROJECT = Path(__file__).resolve().parents[2]


def project(folder: Path, **files: bytes | str) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_a_program_and_what_it_imports_are_readable_text(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        code__a_py="import parts.b\n",
        code__parts__b_py="X = 1\n",
        code__c_py="import os\n",
    )
    manifest = code_config_map(job_of({"program": "code/a.py", "worker": {}}), folder, "ns")
    assert manifest is not None
    assert manifest["data"] == {
        "code.a.py": "import parts.b\n",
        "code.parts.b.py": "X = 1\n",
    }
    assert manifest["immutable"] is True
    assert manifest["metadata"]["namespace"] == "ns"


def test_it_is_named_by_content(tmp_path: Path) -> None:
    job = job_of({"program": "a.py", "worker": {}})
    names = []
    for text in ("X = 1\n", "X = 2\n", "X = 1\n"):
        manifest = code_config_map(job, project(tmp_path, a_py=text), "ns")
        assert manifest is not None
        names.append(manifest["metadata"]["name"])
    assert names[0] == names[2] != names[1]
    assert names[0].startswith("m-code-")


def test_what_is_no_text_travels_too(tmp_path: Path) -> None:
    latin = "# -*- coding: latin-1 -*-\nX = 'é'\n".encode("latin-1")
    manifest = code_config_map(
        job_of({"program": "a.py", "worker": {}}), project(tmp_path, a_py=latin), "ns"
    )
    assert manifest is not None
    assert base64.b64decode(manifest["binaryData"]["a.py"]) == latin
    assert "data" not in manifest


def test_keys_are_allowed_and_unlike() -> None:
    paths = {"a/b.py": b"", "a.b.py": b"", "ä ö.py": b"", "x" * 300 + ".py": b""}
    keys = code_keys(paths)
    assert sorted(keys.values()) == sorted(paths)
    assert len(keys) == len(paths)
    for key in keys:
        assert len(key) <= 253
        assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-_")


def test_a_command_has_no_code(tmp_path: Path) -> None:
    job = job_of({"command": ["sh"], "image": "own:1", "worker": {}})
    assert code_config_map(job, tmp_path, "ns") is None


def test_code_that_is_too_large_is_refused_by_the_name_of_the_largest(tmp_path: Path) -> None:
    folder = project(tmp_path, a_py="import large\n", large_py="#" + "x" * 1_000_000 + "\n")
    settings = {
        "target": "kubernetes",
        "kubernetes": {"kubeconfig": "k"},
        "storage": {"claim": "c"},
        "jobs": {"m": {"program": "a.py", "worker": {}}},
    }
    (folder / "k").write_text(
        "contexts: [{name: c, context: {cluster: c}}]\n"
        "clusters: [{name: c, cluster: {server: 'https://c'}}]\n"
    )
    with pytest.raises(ConfigErrors) as caught:
        parse(settings, project_directory=folder)
    (line,) = caught.value.lines
    assert line.startswith("ack-training:jobs.m.program: its files have 1,000,015 bytes")
    assert "the largest is large.py (1,000,002)" in line


def test_the_runtime_is_one_archive_that_python_imports_from(tmp_path: Path) -> None:
    manifest = runtime_config_map("ns")
    content = base64.b64decode(manifest["binaryData"][RUNTIME_KEY])
    archive = tmp_path / RUNTIME_KEY
    archive.write_bytes(content)
    names = set(zipfile.ZipFile(io.BytesIO(content)).namelist())
    assert {"runtime/__main__.py", "runtime/cluster.py"} <= names
    ran = subprocess.run(
        [sys.executable, "-m", "runtime", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(archive), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (
        0,
        "usage: python -m runtime program.py [flags of the program]\n",
    )


def test_equal_sources_make_equal_bytes() -> None:
    from training.code_config_map import _runtime_archive

    assert _runtime_archive.__wrapped__() == _runtime_archive.__wrapped__()
    assert len(base64.b64encode(_runtime_archive())) < 900_000
