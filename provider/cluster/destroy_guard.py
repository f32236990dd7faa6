"""What is deleted first, and refuses to be while its cluster does not answer or is another."""

from cluster.errors import ClusterError, UnreachableError
from cluster.requirements import authenticate
from provider.cluster.link import LINK, OtherClusterError, linked, refuse_other_cluster
from provider.cluster.opened import GONE_FOR_GOOD, is_gone_for_good, is_known, opened
from provider.compare import changed_beside
from provider.kinds import Call, Change, Properties, ProviderError


class DestroyGuard:
    """Everything of the stack stands before it, so that a `destroy` deletes it before the rest: a
    cluster that cannot be reached costs one sentence, and not half of the stack's state."""

    def identify(self, inputs: Properties) -> str:
        return "destroy-guard"

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        link = call.outputs.get(LINK) or {}
        # What the connection leads to is told by the connection, and here only kept.
        moved = is_known(call.inputs) and call.inputs.get("connection") != link.get("connection")
        return Change(
            updates=changed_beside(call.old_inputs, call.inputs, ("connection",)),
            drift=(LINK,) if moved else (),
        )

    def create(self, call: Call) -> Properties:
        return linked(call)

    def read(self, call: Call) -> Properties | None:
        return call.outputs if is_gone_for_good() else linked(call)

    def update(self, call: Call) -> Properties:
        return linked(call)

    def delete(self, call: Call) -> None:
        try:
            authenticate(opened(call.inputs))
            refuse_other_cluster(call)
        except UnreachableError as error:
            if not is_gone_for_good():
                raise ProviderError(
                    f"{error}; nothing was deleted. If the cluster is gone for good, "
                    f"`{GONE_FOR_GOOD}=true pulumi destroy` forgets what was on it"
                ) from error
        except (ClusterError, ProviderError) as error:
            if isinstance(error, OtherClusterError) or not is_gone_for_good():
                # The stack's own cluster may well be there: to forget it would orphan all on it.
                raise ProviderError(f"{error}; nothing was deleted") from error
