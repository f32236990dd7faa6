"""Which image a container of the stack runs."""

from __future__ import annotations

from collections.abc import Iterable

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


def images_abroad(images: Iterable[str]) -> list[str]:
    """Those of `images` that come from a registry outside mainland China, which nodes inside it
    reach slowly or not at all."""
    unlike = dict.fromkeys(images)
    return [image for image in unlike if not _host(image).endswith(_CHINESE_HOSTS)]


_CHINESE_HOSTS = (".aliyuncs.com", ".cn")


def _host(image: str) -> str:
    """The registry of an image: what stands before the first slash, where that can be a host."""
    first = image.partition("/")[0]
    host = first.partition(":")[0]
    return host if "." in first or ":" in first or first == "localhost" else "docker.io"
