"""`make image`: builds the images that a stack's containers run, and brings them to where its
cluster takes them from."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from config.image_settings import ImageSettings, image_settings
from toolchain.builders import find_builder
from toolchain.image_build import ensure_image, loading_hint, push_image, save_image
from toolchain.image_mirror import mirror_images
from toolchain.image_tag import Kind, image_name
from toolchain.operator_manifests import operator_manifests
from toolchain.places import ROOT
from toolchain.report import Stop, exit_code_of, say
from workloads.images import rewritten
from workloads.operator_files import OPERATOR_IMAGE, OperatorManifestsError, released_image

_KINDS: dict[str, tuple[Kind, ...]] = {"cpu": ("cpu",), "gpu": ("gpu",), "all": ("cpu", "gpu")}


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    return exit_code_of(lambda: _make(options), "run it again to go on")


def _make(options: argparse.Namespace) -> int:
    settings = image_settings(ROOT, options.stack)
    _refuse(options, settings)
    kinds = _KINDS[options.image] if options.image else default_kinds(settings)
    archive = _archive(options.archive, kinds) if options.archive else None
    builder = find_builder(os.environ.get("BUILDER"))
    base = options.python_image or None
    for kind in kinds:
        name = image_name(kind, settings.registry)
        if settings.registry and options.push != "0" and not archive:
            push_image(builder, kind, settings.registry, base)
            continue
        ensure_image(builder, name, kind, base)
        if archive:
            save_image(builder, name, archive)
        else:
            say(loading_hint(builder, name))
    if options.mirror == "1" and settings.registry:
        images = dict.fromkeys([*settings.images, *_released(settings, options.stack)])
        copies = {image: rewritten(image, settings.registry) for image in images}
        mirror_images(builder, copies, settings.registry)
    return 0


def _refuse(options: argparse.Namespace, settings: ImageSettings) -> None:
    """Raises Stop for what is asked of the wrong stack, before anything long."""
    file = f"Pulumi.{options.stack}.yaml"
    if not (ROOT / file).is_file():
        raise Stop(f"there is no {file}")
    if options.image and options.image not in _KINDS:
        raise Stop(f"IMAGE={options.image}: must be one of {', '.join(_KINDS)}")
    for wish, given in (("PUSH=1", options.push), ("MIRROR=1", options.mirror)):
        if given == "1" and not settings.registry:
            raise Stop(f"{wish}: {file} has no ack-training:imageRegistry")


def _released(settings: ImageSettings, stack: str) -> list[str]:
    """The training operator's image, where the stack installs it and names no other."""
    if not settings.installs_operator:
        return []
    try:
        return [released_image(operator_manifests(stack), OPERATOR_IMAGE)]
    except OperatorManifestsError as error:
        raise Stop(str(error)) from error


def _archive(given: str, kinds: Sequence[Kind]) -> Path:
    if len(kinds) > 1:
        raise Stop("ARCHIVE= takes one image: name it, IMAGE=cpu or IMAGE=gpu")
    archive = Path(given).absolute()
    if not archive.parent.is_dir():
        raise Stop(f"ARCHIVE={given}: there is no folder {archive.parent}")
    return archive


def default_kinds(settings: ImageSettings) -> tuple[Kind, ...]:
    return _KINDS["all" if settings.gpus else "cpu"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make image", allow_abbrev=False)
    parser.add_argument("--stack", default="local")
    parser.add_argument("--image", default="")
    parser.add_argument("--push", default="")
    parser.add_argument("--archive", default="")
    parser.add_argument("--mirror", default="")
    parser.add_argument("--python-image", default="")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
