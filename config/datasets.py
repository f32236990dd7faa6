"""The datasets on the shared storage, as they stand under `ack-training:datasets`."""

from __future__ import annotations

from typing import ClassVar, Literal

from config.base import Change, Section, setting

# Datasets of which a small set of real examples comes with the requirements.
SAMPLED = ("mnist",)


class Dataset(Section):
    """A folder below `datasets` of the shared storage."""

    looks_like: ClassVar = "{source: sample}"

    source: Literal["sample", "provided"] = setting(
        "What fills the folder while it is absent. sample: a small set of real examples (mnist: "
        "5,000 images). provided: nothing, you put the files there.",
        Change.FILLS,
        "sample",
    )
