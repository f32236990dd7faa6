"""Makes the project's images, where they are not there already."""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from toolchain.builders import Build, Builder, succeeds
from toolchain.image_tag import FOLDER, Kind, image_files, image_name, image_tag
from toolchain.pip_settings import build_secrets
from toolchain.places import ROOT
from toolchain.report import Stop, say, step
from toolchain.versions import read_versions

USUALLY: dict[Kind, str] = {
    "cpu": "2 to 4 minutes; 1.5 GB of disk, and three times that while it builds",
    "gpu": "10 to 20 minutes; 6 GB of disk, and three times that while it builds",
}
_REFUSED = re.compile(
    r"denied|unauthori[sz]ed|forbidden|authentication required|no basic auth|\b40[13]\b", re.I
)


def ensure_image(builder: Builder, name: str, kind: Kind, base: str | None) -> None:
    """Afterwards the builder's own storage has the image. `base` stands in for the base image of
    versions.toml where that cannot be pulled."""
    if succeeds(builder.is_here(name)):
        say(f"{name} is already there ({builder.program})")
        return
    dockerfile, _ = image_files(kind)
    base = base or read_versions().images["python"]
    with tempfile.TemporaryDirectory(prefix="ack-training-") as folder:
        build = Build(
            name,
            dockerfile=ROOT / FOLDER / dockerfile,
            context=ROOT / FOLDER,
            arguments={"PYTHON_IMAGE": base, "VERSION": image_tag(kind)},
            secrets=build_secrets(Path(folder)),
        )
        with step(f"Building {name} with {builder.program}", USUALLY[kind]):
            # Its output is the user's: minutes without a word would look like a hang.
            ran = subprocess.run(builder.build(build), stdin=subprocess.DEVNULL, check=False)
            if ran.returncode:
                raise Stop(
                    f"{builder.program} could not build {name} from {base}: what it says of it "
                    "is above; make image PYTHON_IMAGE=… names another base"
                )


def push_image(builder: Builder, kind: Kind, registry: str, base: str | None) -> None:
    """Afterwards the registry has the image."""
    name = image_name(kind, registry)
    if succeeds(builder.is_in_registry(name)):
        say(f"{name} is already there")
        return
    ensure_image(builder, name, kind, base)
    with step(f"Pushing {name}", "minutes, by the network"):
        run_at_registry(builder, builder.push(name), registry, f"{name} was not pushed")


def save_image(builder: Builder, name: str, archive: Path) -> None:
    """Afterwards `archive` is an OCI archive with the image, which must be in the builder's
    storage. Written aside and renamed, so that whatever lies there is whole."""
    aside = archive.with_name(f".{archive.name}.{os.getpid()}.tmp")
    with step(f"Writing {archive}", "half a minute"):
        try:
            ran = _captured(builder.save(name, aside))
            if ran.returncode:
                raise Stop(f"{archive} was not written: {reason(ran.stderr)}")
            os.replace(aside, archive)
        except OSError as error:
            raise Stop(f"{archive} was not written: {error.strerror}") from error
        finally:
            aside.unlink(missing_ok=True)


def loading_hint(builder: Builder, name: str) -> str:
    """How an image gets into a cluster without a registry."""
    own = builder.own_name(name)
    if builder.program == "docker":
        return f"load it: kind load docker-image {own}, or minikube image load {own}"
    return (
        "load it: make image ARCHIVE=image.tar, then kind load image-archive image.tar, or "
        "minikube image load image.tar, or ctr -n k8s.io images import image.tar on each node"
    )


def run_at_registry(builder: Builder, command: Sequence[str], registry: str, failed: str) -> None:
    """Runs a command that needs the registry's leave. Raises Stop that says to log in when it is
    missing."""
    ran = _captured(command)
    if ran.returncode:
        hint = f"; log in first: {builder.log_in(registry)}" if _REFUSED.search(ran.stderr) else ""
        raise Stop(f"{failed}: {reason(ran.stderr)}{hint}")


def reason(output: str) -> str:
    """Of the last line, what comes at its end: before it stand the steps that led there, each with
    a colon after it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return (
        ": ".join(lines[-1].rstrip('"').split(": ")[-2:]) if lines else "it failed without a word"
    )


def _captured(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
