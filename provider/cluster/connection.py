"""Whether the cluster of a stack is there, and lets the user do what the stack needs."""

from cluster.errors import ClusterError
from cluster.requirements import unmet
from provider.cluster.opened import is_known, opened
from provider.compare import changed_paths
from provider.kinds import Call, Change, Properties, ProviderError


class Connection:
    """Afterwards the cluster was reachable, and everything else may be declared. One sentence at
    the preview, from this resource alone, where it is not."""

    def identify(self, inputs: Properties) -> str:
        return "cluster"

    def refusals(self, call: Call) -> list[str]:
        if not is_known(call.inputs):
            return []
        try:
            refusal = unmet(
                opened(call.inputs),
                str(call.inputs["namespace"]),
                call.inputs.get("requires") or [],
            )
        except (ClusterError, ProviderError) as error:
            return [str(error)]
        return [] if refusal is None else [refusal]

    def compare(self, call: Call) -> Change:
        changed = changed_paths(call.old_inputs, call.inputs)
        # Where the kubeconfig lies is of this machine: another one is no change of the stack.
        return Change(updates=tuple(p for p in changed if not p.startswith("connection")))

    def create(self, call: Call) -> Properties:
        return {}

    def read(self, call: Call) -> Properties | None:
        return call.outputs

    def update(self, call: Call) -> Properties:
        return {}

    def delete(self, call: Call) -> None:
        """Nothing was made."""
