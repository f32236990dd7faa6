"""What is deleted first, and refuses to be while its cluster does not answer."""

from cluster.errors import ClusterError
from cluster.requirements import authenticate
from provider.cluster.opened import GONE_FOR_GOOD, is_gone_for_good, opened
from provider.compare import changed_paths
from provider.kinds import Call, Change, Properties, ProviderError


class DestroyGuard:
    """Everything of the stack stands before it, so that a `destroy` deletes it before the rest: a
    cluster that cannot be reached costs one sentence, and not half of the stack's state."""

    def identify(self, inputs: Properties) -> str:
        return "destroy-guard"

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        changed = changed_paths(call.old_inputs, call.inputs)
        return Change(updates=tuple(p for p in changed if not p.startswith("connection")))

    def create(self, call: Call) -> Properties:
        return {}

    def read(self, call: Call) -> Properties | None:
        return call.outputs

    def update(self, call: Call) -> Properties:
        return {}

    def delete(self, call: Call) -> None:
        if is_gone_for_good():
            return
        try:
            authenticate(opened(call.inputs))
        except (ClusterError, ProviderError) as error:
            raise ProviderError(
                f"{error}; nothing was deleted. If the cluster is gone for good, "
                f"`{GONE_FOR_GOOD}=true pulumi destroy` forgets what was on it"
            ) from error
