"""The programs that build images, and what each of them is called with."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolchain.report import Stop


@dataclass(frozen=True)
class Build:
    """What an image is built from: `arguments` reach the Dockerfile and may be seen, `secrets`
    (by id) are files that the build reads and that leave no trace in the image."""

    name: str
    dockerfile: Path
    context: Path
    arguments: Mapping[str, str]
    secrets: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Builder:
    """One of the programs. Its methods make commands and run nothing. `skopeo` is whether that
    program is here too: podman and buildah cannot look into a registry without fetching."""

    program: str
    skopeo: bool = False

    def own_name(self, name: str) -> str:
        """An image without a registry, as the program and a cluster's nodes call it: the others
        would put localhost/ before it, and a kubelet would look for it in vain."""
        if self.program == "docker" or "/" in name:
            return name
        return f"docker.io/library/{name}"

    def build(self, build: Build) -> list[str]:
        command = {
            # --load: a builder that is a container keeps the image to itself otherwise. Without
            # provenance the image is one manifest, which is what clusters' loaders expect.
            "docker": ["docker", "buildx", "build", "--load", "--provenance=false"],
            "podman": ["podman", "build", "--format=oci"],
            "buildah": ["buildah", "build", "--format=oci"],
        }[self.program]
        command = [*command, "--file", str(build.dockerfile)]
        for key, value in build.arguments.items():
            command += ["--build-arg", f"{key}={value}"]
        for key, path in build.secrets.items():
            command += ["--secret", f"id={key},src={path}"]
        return [*command, "--tag", self.own_name(build.name), str(build.context)]

    def is_here(self, name: str) -> list[str]:
        """Ends with 0 if the program has the image in its own storage."""
        asked = {
            "docker": ["docker", "image", "inspect"],
            "podman": ["podman", "image", "exists"],
            "buildah": ["buildah", "inspect", "--type=image"],
        }[self.program]
        return [*asked, self.own_name(name)]

    def is_in_registry(self, name: str) -> list[str]:
        """Ends with 0 if the registry has the image."""
        if self.program == "docker":
            return ["docker", "manifest", "inspect", name]
        if self.skopeo:
            return ["skopeo", "inspect", "--raw", f"docker://{name}"]
        return [self.program, "pull", "--quiet", name]

    def push(self, name: str) -> list[str]:
        return [self.program, "push", name]

    def log_in(self, registry: str) -> str:
        """What the user calls, in words."""
        return f"{self.program} login {registry.partition('/')[0]}"

    def save(self, name: str, archive: Path) -> list[str]:
        """Writes the image with its name into an OCI archive. Docker's is one from version 25 on;
        before it is Docker's own kind, which what loads it into a cluster knows as well."""
        own = self.own_name(name)
        return {
            "docker": ["docker", "image", "save", "--output", str(archive), own],
            "podman": ["podman", "save", "--format=oci-archive", "--output", str(archive), own],
            "buildah": ["buildah", "push", own, f"oci-archive:{archive}:{own}"],
        }[self.program]


_WORKS: dict[str, tuple[tuple[list[str], str], ...]] = {
    "docker": (
        (["docker", "version", "--format", "{{.Server.Version}}"], "its daemon cannot be reached"),
        (["docker", "buildx", "version"], "it lacks buildx"),
    ),
    "podman": ((["podman", "info"], "`podman info` fails"),),
    "buildah": ((["buildah", "info"], "`buildah info` fails"),),
}
"""By program, best first: what must end with 0, and what is wrong if it does not."""


def find_builder(chosen: str | None) -> Builder:
    """The first program that works here, or `chosen` and no other in its place."""
    if chosen and chosen not in _WORKS:
        raise Stop(f"BUILDER={chosen}: must be one of {', '.join(_WORKS)}")
    reasons = []
    for program in [chosen] if chosen else _WORKS:
        reason = _unfit(program)
        if reason is None:
            return Builder(program, skopeo=shutil.which("skopeo") is not None)
        reasons.append(f"{program}: {reason}")
    if chosen:
        raise Stop(f"BUILDER={reasons[0]}")
    raise Stop(
        f"no program here can build images ({'; '.join(reasons)}): "
        "start Docker, or install buildah (Debian, Ubuntu: apt-get install buildah)"
    )


def _unfit(program: str) -> str | None:
    if shutil.which(program) is None:
        return "not installed"
    return next((wrong for command, wrong in _WORKS[program] if not succeeds(command)), None)


def succeeds(command: Sequence[str]) -> bool:
    """Whether a command that only asks ends with 0. What it prints goes nowhere."""
    nowhere = subprocess.DEVNULL
    try:
        ran = subprocess.run(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, check=False)
    except OSError:
        return False
    return ran.returncode == 0
