"""The files that a program consists of: part of its job, so that an edit shows in the preview."""

import ast
import hashlib
import io
import tokenize
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

_RUNTIME = Path(__file__).resolve().parents[1] / "training" / "programs" / "runtime"


class _Source(NamedTuple):
    """What a Python file's text tells: (level, dotted name) of each import, and what keeps Python
    from reading it; "" where nothing does."""

    imports: frozenset[tuple[int, str]]
    error: str


def program_files(project: Path, program: str) -> dict[str, str]:
    """Path, relative to `project` → SHA-256 of the program and of every module that it imports from
    its own folder, directly or through another.

    Imports are found in the source text, so the program is not run. The bundle's runtime is not
    among them: its upgrade must not train a finished job again.
    """
    digests = {
        path: hashlib.sha256(content).hexdigest() for path, content in _files(project, program)
    }
    return dict(sorted(digests.items()))


def program_contents(project: Path, program: str) -> dict[str, bytes]:
    """As `program_files`, with the files' contents."""
    return dict(sorted(_files(project, program)))


def broken_sources(project: Path, program: str) -> list[str]:
    """What keeps Python, or the place where the program will run, from reading the files of a
    program: path, line and reason, for each of them. Raises OSError for a file that this user may
    not read."""
    faults = ((path, _fault(project, path, text)) for path, text in _files(project, program))
    return sorted(f"{path}{fault}" for path, fault in faults if fault)


def _fault(project: Path, path: str, content: bytes) -> str:
    # Where the program runs there is only what the project has.
    if not (project / path).resolve().is_relative_to(project.resolve()):
        return " is a link that leads outside the project"
    return _read(content).error if path.endswith(".py") else ""


def _files(project: Path, program: str) -> Iterator[tuple[str, bytes]]:
    folder = (project / program).parent
    seen: set[str] = set()
    pending = [project / program]
    while pending:
        path = pending.pop()
        relative = path.relative_to(project).as_posix()
        if relative in seen:
            continue
        seen.add(relative)
        content = path.read_bytes()
        yield relative, content
        if path.suffix == ".py":
            for level, module in _read(content).imports:
                start = folder if level == 0 else _above(path, level)
                # An import that leads out of the project fails where the program runs.
                if start.is_relative_to(project):
                    pending += _module_files(start, module)


def _above(path: Path, level: int) -> Path:
    """The package that `level` dots name in an import of `path`."""
    return path.parents[min(level, len(path.parents)) - 1]


@cache
def _read(content: bytes) -> _Source:
    try:
        with warnings.catch_warnings():
            # A replica's log shows them; here they would stand in every preview.
            warnings.simplefilter("ignore")
            tree = ast.parse(_text(content))
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        return _Source(frozenset(), f", line {number}: is not {error.encoding}, as it should be")
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        return _Source(frozenset(), f"{line}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return _Source(frozenset(), f": {error or 'too deeply nested'}")
    found: set[tuple[int, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(0, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found |= {(node.level, f"{base}.{alias.name}".lstrip(".")) for alias in node.names}
    return _Source(frozenset(found), "")


def _text(content: bytes) -> str:
    """A source file as Python decodes it, comments too: https://peps.python.org/pep-0263/"""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return content.decode(encoding)


def _module_files(start: Path, module: str) -> list[Path]:
    """The files of `module` below `start`, its packages' `__init__.py` included; none where it
    comes from elsewhere."""
    parts = module.split(".")
    if (start / parts[0]) == _RUNTIME:
        return []
    places = [start.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    candidates = [
        path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")
    ]
    return [path for path in candidates if path.is_file()]
