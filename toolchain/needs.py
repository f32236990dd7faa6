"""What set-up brings for a stack: it depends on the stack's target, read from the stack's file."""

import re
from dataclasses import dataclass
from pathlib import Path

from toolchain.stack import known_stacks, stack_file
from toolchain.venv import DEV, KUBERNETES, LOCAL, Group

_KEY = re.compile(r"""^\s*["']?(ack-training:(?:config:)?)?target["']?\s*:(.*)$""", re.MULTILINE)
_VALUE = re.compile(r"""\s*(["']?)(local|kubernetes|ack)\1\s*(?:#.*)?""")
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_DEFAULT = "local"


@dataclass(frozen=True)
class Needs:
    """`cluster`: Pulumi's plugin for Kubernetes and the training operator's manifests."""

    groups: tuple[Group, ...]
    cluster: bool


EVERYTHING = Needs((LOCAL, KUBERNETES, DEV), cluster=True)
_OF_TARGET = {
    "local": Needs((LOCAL,), cluster=False),
    "kubernetes": Needs((KUBERNETES,), cluster=True),
    "ack": Needs((KUBERNETES,), cluster=True),
    None: Needs((LOCAL, KUBERNETES), cluster=True),
}


def needs_of_stack(stack: str, project: Path) -> Needs:
    """Raises Stop for a stack that has no file."""
    return _OF_TARGET[_target_of(stack_file(stack, project))]


def needs_of_checkout(project: Path) -> Needs:
    """The packages of this machine's target, and of a cluster's where a stack's file is for one.
    What takes minutes to build is left to who names such a stack."""
    targets = [_target_of(stack_file(stack, project)) for stack in known_stacks(project)]
    on_cluster = any(_OF_TARGET[target].cluster for target in targets)
    return Needs((LOCAL, KUBERNETES) if on_cluster else (LOCAL,), cluster=False)


def _target_of(file: Path) -> str | None:
    # Pulumi.yaml may have config for all stacks.
    default = target_in(_text(file.parent / "Pulumi.yaml"), _DEFAULT)
    return target_in(_text(file), default)


def target_in(text: str, default: str | None) -> str | None:
    """The target that the text of a stack's file names, `default` when it names none; None when it
    is not plain to see.

    There is nothing to read YAML with before set-up, so this knows what people and `pulumi config
    set` write: one line with the key and its value.
    """
    text = _COMMENT.sub("", text)
    found = _KEY.findall(text)
    values = [value for namespace, value in found if namespace] or [value for _, value in found]
    if not values:
        return None if "ack-training:target" in text else default
    value = _VALUE.fullmatch(values[0])
    return value[2] if value and len(values) == 1 else None


def _text(file: Path) -> str:
    # What is wrong with the file, Pulumi tells.
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
