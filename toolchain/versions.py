"""Reads versions.toml, the one file with third-party versions."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from toolchain.places import ROOT

Version = tuple[int, ...]


@dataclass(frozen=True)
class Versions:
    """`python` maps a group (stack, replica, cpu, gpu, kubernetes, data, dev) to its packages and
    their versions, each with its environment marker if it has one; `modules` maps a Go module to
    its version, `images` a use to an image, `files` what is used as it is to its SHA-256."""

    programs: dict[str, str]
    images: dict[str, str]
    modules: dict[str, str]
    files: dict[str, str]
    python: dict[str, dict[str, str]]


@cache
def read_versions(path: Path = ROOT / "versions.toml") -> Versions:
    raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    parts = ("programs", "images", "modules", "files", "python")
    return Versions(**{part: raw[part] for part in parts})


def parse_version(text: str) -> Version:
    """The first dotted number in `text`, as in `v3.274.1`, `go1.26.6` or `3.11`; empty when there
    is none."""
    found = re.search(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()
