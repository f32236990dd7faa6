"""The files that a program consists of."""

import hashlib
from pathlib import Path

import pytest

from config.program import broken_sources, program_files


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


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"def f(:\n    pass\n", ", line 1: invalid syntax"),
        (b"x = 1\n  y = 2\n", ", line 2: unexpected indent"),
        (b"print('a'\n\n", ", line 1: '(' was never closed"),
        (b"x = 1\x00", ": source code string cannot contain null bytes"),
        (b"# -*- coding: none-such -*-\n", ": unknown encoding: none-such"),
        (b"x = 1\ny = 2\n\nx = '\xff'\n", ", line 4: is not utf-8, as it should be"),
        (b"x = 1\ny = 2\n# caf\xe9\n", ", line 3: is not utf-8, as it should be"),
        (b"# caf\xe9\n", ": invalid or missing encoding declaration"),
        (b"(" * 10_000, ""),
    ],
)
def test_what_python_cannot_read_is_told_by_file_and_line(
    tmp_path: Path, content: bytes, told: str
) -> None:
    write(tmp_path, {"p/m.py": "import other, fine", "p/fine.py": "print('\\d')\n"})
    (tmp_path / "p/other.py").write_bytes(content)
    broken = broken_sources(tmp_path, "p/m.py")
    assert len(broken) == 1
    assert broken[0].startswith("p/other.py")
    assert told in broken[0]
    assert "\n" not in broken[0]


def test_a_declared_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'\n")
    assert broken_sources(tmp_path, "m.py") == []


def test_a_module_that_is_a_link_out_of_the_project_is_told(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project, {"p/m.py": "import near, far\n", "p/real.py": "x = 1\n"})
    (tmp_path / "far.py").write_text("x = 1\n")
    (project / "p/near.py").symlink_to("real.py")
    (project / "p/far.py").symlink_to(tmp_path / "far.py")
    assert broken_sources(project, "p/m.py") == [
        "p/far.py is a link that leads outside the project"
    ]


def test_each_broken_file_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": "import a\nimport b\n", "a.py": "x =\n", "b.py": "y =\n"})
    assert broken_sources(tmp_path, "m.py") == [
        "a.py, line 1: invalid syntax",
        "b.py, line 1: invalid syntax",
    ]


def test_the_programs_of_the_bundle_are_not_broken() -> None:
    project = Path(__file__).resolve().parents[2]
    for program in (project / "training/programs").glob("*.py"):
        assert broken_sources(project, str(program.relative_to(project))) == []
