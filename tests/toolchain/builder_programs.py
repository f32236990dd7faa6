"""Stand-ins for docker, podman, buildah and skopeo: they note what they are called with, and know
of images what a test tells them. The real buildah is used in tests/cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

_SCRIPT = """
echo "{name} $*" >> '{folder}/calls'
case "$*" in
{cases}
esac
exit 0
"""


class BuilderPrograms:
    """What a program does is shell, by the pattern of its arguments. What has no answer works."""

    def __init__(self, folder: Path, write: Callable[[str, str], Path]) -> None:
        self._folder = folder
        self._write = write

    def add(self, name: str, answers: Mapping[str, str] = MappingProxyType({})) -> None:
        cases = "\n".join(f"{pattern}) {answer} ;;" for pattern, answer in answers.items())
        self._write(name, _SCRIPT.format(name=name, folder=self._folder, cases=cases or "--) ;;"))

    @property
    def calls(self) -> list[str]:
        """All calls so far, those that only look for a builder that works left out."""
        file = self._folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        asked = ("docker version", "docker buildx version", "podman info", "buildah info")
        return [line for line in lines if not line.startswith(asked)]
