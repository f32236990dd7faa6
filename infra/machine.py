"""This machine as the place where the stack runs."""

from collections.abc import Sequence

import pulumi


class Machine(pulumi.CustomResource):
    """The stack's directories on this machine.

    Afterwards the shared directory and the state directory exist, and nothing of this stack runs
    that is not among `jobs` and `services`. Deleting it stops what still runs; the shared
    directory, with data, checkpoints and exports, stays.

    Both directories are relative to the project, or absolute.
    """

    def __init__(
        self,
        name: str,
        *,
        storage: str,
        jobs: Sequence[str],
        services: Sequence[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        # Not called as the inputs are: the SDK turns attributes of those names into outputs.
        self.storage_path = storage
        self.state_path = f".ack-training/{pulumi.get_stack()}"
        super().__init__(
            "acktraining:local:Machine",
            name,
            {
                "storage": storage,
                "stateDirectory": self.state_path,
                "jobs": sorted(jobs),
                "services": sorted(services),
                # Another backend may know another stack of the same name.
                "owner": f"{pulumi.get_organization()}/{pulumi.get_project()}",
            },
            opts,
        )
