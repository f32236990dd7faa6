"""The one place that knows which target a stack is on."""

from pathlib import Path
from typing import Any, Protocol

from config.stack import Stack


class Deployment(Protocol):
    """What a stack has become once its resources are declared."""

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs: `jobs` by name, and `tensorboard` where there is one."""
        ...


class UndeployableError(Exception):
    """Nothing was declared; the text is one line that says what to do."""


def deploy(stack: Stack, project: Path) -> Deployment:
    """Declares every resource of `stack` on its target. Raises UndeployableError where this
    checkout lacks what the target needs."""
    match stack.target:
        case "local":
            # Imported here, so that a target needs only its own packages.
            from training.local_stack import LocalStack

            return LocalStack(stack, project)
        case "kubernetes":
            return _deploy_on_cluster(stack, project)
        case other:
            raise NotImplementedError(other)


def _deploy_on_cluster(stack: Stack, project: Path) -> Deployment:
    from pulumi import get_stack

    from toolchain.ready import require_cluster_set_up
    from toolchain.report import Stop

    try:
        require_cluster_set_up(get_stack())
        from training.cluster_stack import ClusterStack

        return ClusterStack(stack, project)
    except Stop as stop:
        raise UndeployableError(str(stop)) from None
