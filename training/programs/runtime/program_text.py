"""What a program consists of, found in its text without running it."""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

_RUNTIME = Path(__file__).resolve().parent
_INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")
_NOT_OWN = (_RUNTIME, *(Path(sysconfig.get_path(name)).resolve() for name in _INSTALLED))


@dataclass(frozen=True)
class ProgramText:
    """`digests`: SHA-256 of each file by its path below the program's folder."""

    digests: Mapping[str, str]
    uses_runtime: bool


def read_program(program: Path) -> ProgramText:
    """The program with the modules of its own folder that it imports, also inside its methods, or
    has imported already. Neither the runtime nor installed packages are part of it."""
    program = program.resolve()
    folder = program.parent
    loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    pending = [program, *(Path(name).resolve() for name in loaded if name)]
    digests: dict[str, str] = {}
    uses_runtime = False
    while pending:
        path = pending.pop()
        if not _is_own(path, folder) or path.relative_to(folder).as_posix() in digests:
            continue
        content = path.read_bytes()
        digests[path.relative_to(folder).as_posix()] = sha256(content).hexdigest()
        for level, module in _imports(path, content):
            uses_runtime |= level == 0 and module.split(".")[0] == _RUNTIME.name
            start = folder if level == 0 else path.parents[min(level, len(path.parents)) - 1]
            pending += _files(start, module)
    return ProgramText(dict(sorted(digests.items())), uses_runtime)


def _is_own(path: Path, folder: Path) -> bool:
    # By the places of installed modules: a program may well lie below Python's own prefix, /usr.
    return path.is_relative_to(folder) and not any(map(path.is_relative_to, _NOT_OWN))


def _imports(path: Path, content: bytes) -> Iterator[tuple[int, str]]:
    """(number of leading dots, dotted name) of each import; none where Python cannot read it, which
    it tells when it comes to run the program."""
    if path.suffix != ".py":
        return
    try:
        with warnings.catch_warnings():
            # They are shown when the program runs.
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.level, f"{node.module or ''}.{alias.name}".lstrip(".")


def _files(start: Path, module: str) -> list[Path]:
    """The files of `module` below `start`, its packages' `__init__.py` included."""
    parts = module.split(".")
    places = [start.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    found = [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
    return [path.resolve() for path in found if path.is_file()]
