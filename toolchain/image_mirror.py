"""Copies other people's images into a registry that a cluster can reach."""

from collections.abc import Mapping, Sequence

from toolchain.builders import Builder, succeeds
from toolchain.image_build import run_at_registry
from toolchain.report import Stop, say, step


def mirror_images(builder: Builder, copies: Mapping[str, str], registry: str) -> None:
    """Afterwards `registry` has each source of `copies` under the name that it is mapped to, which
    is one in `registry`."""
    refuse_collisions(copies)
    for source, target in copies.items():
        place = place_of(target)
        if succeeds(builder.is_in_registry(place)):
            say(f"{place} is already there")
            continue
        with step(f"Copying {source} to {place}", "a minute or so"):
            for command in copy_commands(builder, source, place):
                run_at_registry(builder, command, registry, f"{source} was not copied")


def refuse_collisions(copies: Mapping[str, str]) -> None:
    """Raises Stop if two images would be one in the registry."""
    seen: dict[str, str] = {}
    for source, target in copies.items():
        other = seen.setdefault(place_of(target), source)
        if other != source:
            raise Stop(f"{other} and {source} would both be {place_of(target)}: they need two tags")


def place_of(target: str) -> str:
    """Where a copy is put. Nothing is pushed to a digest; what pods name by its digest is found by
    that under any tag."""
    name, _, digest = target.partition("@")
    if not digest or ":" in name.rpartition("/")[2]:
        return name
    return f"{name}:{digest.replace(':', '-')}"


def copy_commands(builder: Builder, source: str, place: str) -> Sequence[Sequence[str]]:
    """Copies the image for every kind of machine and as it is, so that its digest stays; podman
    and buildah without skopeo have this machine's kind alone, which has another digest."""
    name, _, digest = source.partition("@")
    # Not every program takes a name with both; the digest says more.
    tagless = name if ":" not in name.rpartition("/")[2] else name.rpartition(":")[0]
    exact = f"{tagless}@{digest}" if digest else name
    if builder.program == "docker":
        return [["docker", "buildx", "imagetools", "create", "--tag", place, exact]]
    if builder.skopeo:
        ends = [f"docker://{exact}", f"docker://{place}"]
        return [["skopeo", "copy", "--quiet", "--all", "--preserve-digests", *ends]]
    if digest:
        raise Stop(
            f"{source} is named by its digest, and {builder.program} alone would change it: "
            "install skopeo (Debian, Ubuntu: apt-get install skopeo)"
        )
    return [
        [builder.program, "pull", exact],
        [builder.program, "push", exact, f"docker://{place}"],
    ]
