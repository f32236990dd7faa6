"""The files that pods run: readable in a diff, laid out as they are imported, complete."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workloads.script_config_map import Scripts
from workloads.volume_program import volume_scripts

_MOST_BYTES = 1 << 20


def laid_out(scripts: Scripts, folder: Path) -> Path:
    """What the kubelet makes of the ConfigMap and the pod volume."""
    data = scripts.config_map_spec("training")["data"]
    for item in scripts.volume()["configMap"]["items"]:
        path = folder / item["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data[item["key"]], encoding="utf-8")
    return folder


def test_a_config_map_is_named_by_its_content_and_never_changes() -> None:
    spec = Scripts("code", {"a/b.py": "x = 1\n", "c.py": ""}).config_map_spec("research")
    assert spec["immutable"] is True
    assert spec["metadata"]["namespace"] == "research"
    assert spec["data"] == {"a.b.py": "x = 1\n", "c.py": ""}
    assert re.fullmatch("code-[0-9a-f]{10}", spec["metadata"]["name"])


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "x = 2\n"},
        {"b.py": "x = 1\n"},
        {"a.py": "x = 1\n", "b.py": ""},
        {},
    ],
)
def test_other_content_is_another_name(files: dict[str, str]) -> None:
    name = Scripts("code", {"a.py": "x = 1\n"}).config_map_name
    assert Scripts("code", files).config_map_name != name
    assert Scripts("code", {"a.py": "x = 1\n"}).config_map_name == name


def test_the_volumes_program_fits_into_a_config_map() -> None:
    spec: dict[str, Any] = volume_scripts().config_map_spec("training")
    assert sum(len(key) + len(text.encode()) for key, text in spec["data"].items()) < _MOST_BYTES
    assert all(re.fullmatch("[-._a-zA-Z0-9]+", key) for key in spec["data"])


def test_the_volumes_program_runs_from_its_config_map_with_nothing_but_python(
    tmp_path: Path,
) -> None:
    scripts = laid_out(volume_scripts(), tmp_path / "scripts")
    (tmp_path / "training").mkdir()
    command = [
        # -S: without any installed package.
        *(sys.executable, "-S", "-B", "-W", "error", "-m", "workloads.volume", "prepare"),
        f"--root={tmp_path / 'training'}",
        *("--path=/srv/training", "--where=the node", "--owner=acme/training/dev"),
        "--directory=mnist=mnist",
    ]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": str(scripts)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "/srv/training/datasets was made\n/srv/training/mnist was made\n"
    assert sorted(path.name for path in (tmp_path / "training").iterdir()) == ["datasets", "mnist"]
