"""What the stack's file says of a stack on a cluster, as far as the views need it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.errors import ConfigErrors, Hidden
from config.errors import Path as KeyPath
from config.kubeconfig import KubeconfigError, find_cluster
from config.parse import parse
from config.secrets import SecretMarks
from config.stack import Stack
from console.stack_file import StackFileError, project_name
from workloads.tensorboard_spec import tensorboard_port

_LONGEST_LABEL = 63
_SECRET = "(secret)"


@dataclass(frozen=True)
class TensorBoardDeclared:
    """The port of its pod, and the path that its pages are under."""

    port: int
    path: str


@dataclass(frozen=True)
class Declared:
    """`jobs` are the replicas of each job by its name."""

    kubeconfig: str | None
    context: str
    namespace: str
    jobs: Mapping[str, tuple[str, ...]]
    brings_operator: bool
    operator_namespace: str
    tensorboard: TensorBoardDeclared | None
    label: str
    """End of the label that the stack's objects have; the organisation stands before it."""

    def owns(self, label: str) -> bool:
        """Whether an object with that label is this stack's."""
        return label == self.label or label.endswith(f".{self.label}")


def declared(sections: Mapping[str, Any], project: Path, stack: str) -> Declared:
    """Of the sections of the stack's file. StackFileError with one line for each fault of it."""
    try:
        found = _parsed(sections)
        cluster = find_cluster(found.kubernetes, project, os.environ)
    except ConfigErrors as errors:
        raise StackFileError("\n".join(errors.lines)) from None
    except KubeconfigError as error:
        raise StackFileError(error.fault.line(Hidden())) from None
    board = found.tensorboard
    return Declared(
        kubeconfig=cluster.file,
        context=cluster.context,
        namespace=found.kubernetes.namespace,
        jobs={
            name: tuple(f"{role}-{index}" for role, index in job.replicas())
            for name, job in found.jobs.items()
        },
        brings_operator=found.operator.install,
        operator_namespace=found.operator.namespace,
        tensorboard=TensorBoardDeclared(tensorboard_port(found), f"{board.path_prefix}/")
        if board.enabled
        else None,
        label=_label(project_name(project), stack),
    )


def _parsed(sections: Mapping[str, Any]) -> Stack:
    """Without the values of secrets, which only Pulumi can read."""
    leaves: set[KeyPath] = set()
    opaque: set[str] = set()
    plain: dict[str, Any] = {}
    for key, value in sections.items():
        if _is_secret(value):
            opaque.add(key)
            plain[key] = None
        else:
            plain[key] = _without_secrets(value, (key,), leaves)
    return parse(plain, marks=SecretMarks(frozenset(leaves), frozenset(opaque)))


def _is_secret(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {"secure"}


def _without_secrets(value: Any, path: KeyPath, leaves: set[KeyPath]) -> Any:
    if _is_secret(value):
        leaves.add(path)
        return _SECRET
    if isinstance(value, dict):
        return {key: _without_secrets(item, (*path, key), leaves) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item, (*path, i), leaves) for i, item in enumerate(value)]
    return value


def _label(project: str, stack: str) -> str:
    """As `infra.kubernetes_object` makes it, which also knows the organisation."""
    safe = re.sub("[^-_.A-Za-z0-9]", "-", f"{project}.{stack}")
    return safe[-_LONGEST_LABEL:].strip("-_.")
