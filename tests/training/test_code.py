"""The files that a program consists of."""

import hashlib
from pathlib import Path

import pytest

from training.code import program_files


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"p/m.py": "import os, numpy"}, ["p/m.py"]),
        (
            {"p/m.py": "import a", "p/a.py": "import b", "p/b.py": ""},
            ["p/a.py", "p/b.py", "p/m.py"],
        ),
        ({"p/m.py": "from a import x", "p/a.py": "", "p/x.py": ""}, ["p/a.py", "p/m.py"]),
        (
            {
                "p/m.py": "from k.n import f",
                "p/k/__init__.py": "",
                "p/k/n.py": "from . import o",
                "p/k/o.py": "",
                "p/k/unused.py": "",
            },
            ["p/k/__init__.py", "p/k/n.py", "p/k/o.py", "p/m.py"],
        ),
        (
            {"p/m.py": "import k.n", "p/k/n.py": "from ..a import x", "p/a.py": ""},
            ["p/a.py", "p/k/n.py", "p/m.py"],
        ),
        ({"p/m.py": "import a", "p/a.py": "import m"}, ["p/a.py", "p/m.py"]),
        ({"p/m.py": "this is no Python"}, ["p/m.py"]),
        ({"m.py": "import other", "q/other.py": ""}, ["m.py"]),
    ],
)
def test_local_imports_are_followed(
    tmp_path: Path, files: dict[str, str], found: list[str]
) -> None:
    write(tmp_path, files)
    program = next(iter(files))
    assert list(program_files(tmp_path, program)) == found


def test_the_content_is_what_counts(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": "x = 1\n"})
    assert program_files(tmp_path, "m.py") == {"m.py": hashlib.sha256(b"x = 1\n").hexdigest()}


def test_the_runtime_of_the_bundle_is_not_part_of_a_program() -> None:
    project = Path(__file__).resolve().parents[2]
    files = program_files(project, "training/programs/mnist.py")
    assert "training/programs/mnist.py" in files
    assert not [path for path in files if "/runtime/" in path]
