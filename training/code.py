"""The files that a program consists of: part of its job, so that an edit shows in the preview."""

import ast
import hashlib
from pathlib import Path

_RUNTIME = Path(__file__).resolve().parent / "programs" / "runtime"


def program_files(project: Path, program: str) -> dict[str, str]:
    """Path, relative to `project` → SHA-256 of the program and of every module that it imports from
    its own folder, directly or through another.

    Imports are found in the source text, so the program is not run. The bundle's runtime is not
    among them: its upgrade must not train a finished job again.
    """
    folder = (project / program).parent
    files: dict[str, str] = {}
    pending = [project / program]
    while pending:
        path = pending.pop()
        relative = path.relative_to(project).as_posix()
        if relative in files:
            continue
        content = path.read_bytes()
        files[relative] = hashlib.sha256(content).hexdigest()
        if path.suffix == ".py":
            for level, module in _imports(content):
                start = folder if level == 0 else path.parents[level - 1]
                pending += _module_files(start, module)
    return dict(sorted(files.items()))


def _imports(content: bytes) -> set[tuple[int, str]]:
    """(level, dotted name) of each import; a name may be a module or something inside one."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return set()
    found: set[tuple[int, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(0, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found |= {(node.level, f"{base}.{alias.name}".lstrip(".")) for alias in node.names}
    return found


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
