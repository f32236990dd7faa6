"""The one place that knows which target a stack is on."""

from pathlib import Path
from typing import Any, Protocol

from config.stack import Stack


class Deployment(Protocol):
    """What a stack has become once its resources are declared."""

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs: `jobs` by name, and `tensorboard` where there is one."""
        ...


def deploy(stack: Stack, project: Path) -> Deployment:
    """Declares every resource of `stack` on its target."""
    match stack.target:
        case "local":
            # Imported here, so that a target needs only its own packages.
            from training.local_stack import LocalStack

            return LocalStack(stack, project)
        case "kubernetes":
            from training.cluster_stack import ClusterStack

            return ClusterStack(stack, project)
        case other:
            raise NotImplementedError(other)
