"""The names of this project's own images.

An image's tag says what it is made of: a change of it is another image under another tag, and what
runs keeps its own. Nothing is asked of a builder or a registry for it, so that a preview can name
an image that is still to be built.
"""

import hashlib
from pathlib import Path
from typing import Literal, get_args

from toolchain.places import ROOT
from toolchain.versions import read_versions

Kind = Literal["cpu", "gpu"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FOLDER = Path("training") / "images"
"""Where the images' files lie in a checkout; what a build is given as its context."""


def image_files(kind: Kind) -> tuple[str, str]:
    """The names in FOLDER of all files that the image is made of, the Dockerfile first."""
    return (f"Dockerfile.{kind}", f"requirements-{kind}.txt")


def image_tag(kind: Kind, project: Path = ROOT) -> str:
    """12 hex digits that change with the kind, the base image of versions.toml, and each file."""
    base = read_versions(project / "versions.toml").images["python"]
    digest = hashlib.sha256(f"{kind}\0{base}\0".encode())
    for name in image_files(kind):
        content = (project / FOLDER / name).read_bytes()
        # With its length, so that no other pair of files is the same to the sum.
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


def image_name(kind: Kind, registry: str | None, project: Path = ROOT) -> str:
    """`registry/ack-training-cpu:<tag>`; without a registry no prefix, for clusters that images
    are loaded into."""
    name = f"ack-training-{kind}:{image_tag(kind, project)}"
    return f"{registry}/{name}" if registry else name
