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
from toolchain.places import ROOT
from toolchain.report import Stop, say
from workloads.images import rewritten, third_party_images

_KINDS: dict[str, tuple[Kind, ...]] = {"cpu": ("cpu",), "gpu": ("gpu",), "all": ("cpu", "gpu")}


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        _make(options)
    except Stop as stop:
        print(f"ack-training: {stop}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ack-training: stopped; run it again to go on", file=sys.stderr)
        return 130
    return 0


def _make(options: argparse.Namespace) -> None:
    if not (ROOT / f"Pulumi.{options.stack}.yaml").is_file():
        raise Stop(f"there is no Pulumi.{options.stack}.yaml")
    if options.image and options.image not in _KINDS:
        raise Stop(f"IMAGE={options.image}: must be one of {', '.join(_KINDS)}")
    settings = image_settings(ROOT, options.stack)
    if not settings.registry and "1" in (options.push, options.mirror):
        wish = "PUSH=1" if options.push == "1" else "MIRROR=1"
        raise Stop(f"{wish}: Pulumi.{options.stack}.yaml has no ack-training:imageRegistry")
    kinds = _KINDS[options.image] if options.image else default_kinds(settings)
    if options.archive and len(kinds) > 1:
        raise Stop("ARCHIVE= takes one image: name it, IMAGE=cpu or IMAGE=gpu")
    builder = find_builder(os.environ.get("BUILDER"))
    base = options.python_image or None
    pushed = settings.registry if options.push != "0" else None
    for kind in kinds:
        name = image_name(kind, settings.registry)
        if pushed and not options.archive:
            push_image(builder, kind, pushed, base)
            continue
        ensure_image(builder, name, kind, base)
        if options.archive:
            save_image(builder, name, Path(options.archive))
        else:
            say(loading_hint(builder, name))
    if options.mirror == "1" and settings.registry:
        copies = {image: rewritten(image, settings.registry) for image in third_party_images()}
        mirror_images(builder, copies, settings.registry)


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
