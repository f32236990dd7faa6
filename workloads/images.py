"""Which image a container of the stack runs."""

from __future__ import annotations

from toolchain.image_tag import image_name


def default_image(gpus: int, registry: str | None) -> str:
    """The project's own image for a replica with that many GPUs. `make image` makes it."""
    return image_name("gpu" if gpus else "cpu", registry)


def rewritten(image: str, registry: str | None) -> str:
    """`image` as `registry` holds it: `registry/name:tag`, the name without the folders that it
    has elsewhere, for there are registries with one level of folders only.

    A digest stays (a mirror is a copy of the very same bytes), and so does an image that is in
    `registry` already.
    """
    if not registry or image.startswith(f"{registry}/"):
        return image
    name, at, digest = image.partition("@")
    return f"{registry}/{name.rpartition('/')[2]}{at}{digest}"


def third_party_images() -> tuple[str, ...]:
    """The images of other projects that a stack's containers run, as their projects name them."""
    return ()
