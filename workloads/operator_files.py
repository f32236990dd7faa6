"""Reads upstream's files of the training operator, and says what one of them lacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

# Ten times as fast, and a preview waits for the 600 kB of TFJob's definition: 0.07 s instead of
# 0.7 s. It is in every wheel of PyYAML, but not in each system's own package.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_IMAGES = "overlays/standalone/kustomization.yaml"


class OperatorManifestsError(Exception):
    """A file of upstream's is missing or not as expected; the text is one line that names it."""


@dataclass(frozen=True)
class Document:
    """One YAML document of a file."""

    file: Path
    content: dict[str, Any]

    def at(self, *keys: str | int) -> Any:
        """What stands at the path `keys`; it must be there."""
        found: Any = self.content
        for depth, key in enumerate(keys):
            try:
                found = found[key]
            except (KeyError, IndexError, TypeError):
                raise self._lacks(".".join(map(str, keys[: depth + 1]))) from None
        return found

    def mappings(self, *keys: str | int) -> list[dict[str, Any]]:
        """The mappings in the list at the path `keys`."""
        entries = self.at(*keys)
        if not isinstance(entries, list):
            raise self._lacks(f"list {'.'.join(map(str, keys))}")
        return [entry for entry in entries if isinstance(entry, dict)]

    def named(self, name: str, *keys: str | int) -> dict[str, Any]:
        """The one of that name in the list at the path `keys`."""
        for entry in self.mappings(*keys):
            if entry.get("name") == name:
                return entry
        raise self._lacks(f"{name} in {'.'.join(map(str, keys))}")

    def replace(self, path: Sequence[str], value: object) -> None:
        """As JSON patch does: what stands at `path`, whose list indices are digits, becomes
        `value`."""
        keys = [int(key) if key.isdecimal() else key for key in path]
        self.at(*keys)
        self.at(*keys[:-1])[keys[-1]] = value

    def _lacks(self, what: str) -> OperatorManifestsError:
        return OperatorManifestsError(f"{self.file}: has no {what}")


def read(folder: Path, name: str, kind: str) -> Document:
    """The one manifest of that kind in upstream's file `name`."""
    document = _only(folder / name, kind)
    document.at("metadata", "name")
    return document


def _only(file: Path, kind: str) -> Document:
    found = [
        document
        for document in _documents(file)
        if isinstance(document, dict) and document.get("kind") == kind
    ]
    if len(found) != 1:
        raise OperatorManifestsError(f"{file}: has {len(found) or 'no'} {kind}, wants 1")
    return Document(file, found[0])


def released_image(folder: Path, image: str) -> str:
    """`image` as upstream's standalone installation names it, with its tag."""
    overlay = _only(folder / _IMAGES, "Kustomization")
    change = overlay.named(image, "images")
    if not isinstance(change.get("newTag"), str):
        raise OperatorManifestsError(f"{overlay.file}: has no newTag for {image}")
    return f"{change.get('newName', image)}:{change['newTag']}"


def patched_webhooks(folder: Path) -> Document:
    """The webhook configuration with upstream's patch: its own name and its Service's."""
    webhooks = read(folder, "base/webhook/manifests.yaml", "ValidatingWebhookConfiguration")
    file = folder / "base/webhook/patch.yaml"
    for operations in _documents(file):
        for operation in operations if isinstance(operations, list) else ():
            match operation:
                case {"op": "replace", "path": str(path), "value": value}:
                    webhooks.replace(path.strip("/").split("/"), value)
                case _:
                    raise OperatorManifestsError(f"{file}: wants replacements alone: {operation}")
    return webhooks


def _documents(file: Path) -> list[Any]:
    try:
        text = file.read_text(encoding="utf-8")
        return list(yaml.load_all(text, Loader=_LOADER))
    except OSError as error:
        raise OperatorManifestsError(f"{file}: {error.strerror}") from error
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise OperatorManifestsError(f"{file}: is no YAML: {reason}") from error
