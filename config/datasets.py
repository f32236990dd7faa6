"""The datasets on the shared storage, as they stand under `ack-training:datasets`."""

from __future__ import annotations

from typing import ClassVar, Literal

from config.base import Change, Section, setting
from config.names import DataPath, Image, Sha256, Subdomain, Url

# Datasets of which a small set of real examples comes with the requirements.
SAMPLED = ("mnist",)

Source = Literal["sample", "provided", "image", "url", "claim"]

SETTINGS_OF: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sample": ((), ()),
    "provided": ((), ()),
    "image": (("image", "path"), ()),
    "url": (("url", "sha256"), ()),
    "claim": (("claim",), ("path",)),
}
"""Of each source, the settings that it needs and those that it may have."""


class Dataset(Section):
    """A folder below `datasets` of the shared storage."""

    looks_like: ClassVar = "{source: sample}"

    source: Source = setting(
        "What fills the folder while it is absent. sample: a small set of real examples (mnist: "
        "5,000 images). provided: nothing, you put the files there. On a cluster also image: the "
        "folder `path` of a container image; url: a file, or a .tar.gz, .tar or .zip, which is "
        "unpacked; claim: the folder `path` of another PersistentVolumeClaim.",
        Change.FILLS,
        "sample",
    )
    image: Image | None = setting(
        "Container image that holds the data, with sh and cp, for source: image.", Change.FILLS
    )
    url: Url | None = setting("Where the data is, http or https.", Change.FILLS)
    sha256: Sha256 | None = setting(
        "SHA-256 of the file at url, 64 hexadecimal digits.", Change.FILLS
    )
    claim: Subdomain | None = setting(
        "PersistentVolumeClaim of the namespace that holds the data.", Change.FILLS
    )
    path: DataPath | None = setting(
        "Folder of the data: absolute in an image, relative in a claim.", Change.FILLS
    )
