"""What a resource kind is to the provider: plain functions over dictionaries, and their errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

Properties = Mapping[str, Any]
"""Inputs or outputs of a resource as the engine sends them: camelCase keys, JSON values."""


class ProviderError(Exception):
    """The operation did not happen; the text is the sentence the user sees."""


class NotReady(Exception):
    """The resource exists, yet is not as it should be: it is kept in state and `up` fails.

    The engine tries again at the next `up` by calling `update`, so that a failure stays a failure
    until it is mended.
    """

    def __init__(self, reasons: list[str], outputs: Properties) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = reasons
        self.outputs = outputs


@dataclass(frozen=True, kw_only=True)
class Change:
    """How new inputs, and what is found on this machine, differ from the recorded resource."""

    updates: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    drift: tuple[str, ...] = ()
    """Outputs that no longer hold, such as a service that died: mended in place."""
    notes: tuple[str, ...] = ()
    """Sentences shown beside the resource in the preview."""

    def __bool__(self) -> bool:
        return bool(self.updates or self.replaces or self.drift)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request of the engine about one resource."""

    inputs: Properties
    old_inputs: Properties = field(default_factory=dict)
    outputs: Properties = field(default_factory=dict)
    stack: str = "local"
    report: Callable[[str], None] = lambda _: None
    """Shows a line beside the resource until the next one comes."""
    announce: Callable[[str], None] = lambda _: None
    """Shows a line beside the resource for good."""
    cancelled: Callable[[], bool] = lambda: False
    """True once the user asked the engine to stop."""


class Kind(Protocol):
    """A resource type. Every operation can be repeated: what is already so is left alone."""

    def identify(self, inputs: Properties) -> str:
        """The physical id, fixed by the inputs."""
        ...

    def refusals(self, call: Call) -> list[str]:
        """Why these inputs cannot be had on this machine, one sentence each; asked at preview."""
        ...

    def compare(self, call: Call) -> Change: ...

    def create(self, call: Call) -> Properties: ...

    def read(self, call: Call) -> Properties | None:
        """The outputs as they are now; None when the resource is gone."""
        ...

    def update(self, call: Call) -> Properties: ...

    def delete(self, call: Call) -> None: ...


@runtime_checkable
class Remembering(Protocol):
    """A resource type that adds to its inputs what it is to remember of earlier ones, so that this
    is known before anything happens: outputs of a preview are not."""

    def remembered(self, call: Call) -> Properties:
        """Inputs beside those of the program, each of which is an output of the same name."""
        ...


@runtime_checkable
class Introduced(Protocol):
    """A kind whose new resources are told of in the preview that declares them."""

    def introduction(self, call: Call) -> list[str]:
        """What there will be, as sentences shown beside the resource."""
        ...
