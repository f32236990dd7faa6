"""Between a PersistentVolume and its claim: a volume that lost its claim is given to the next."""

from cluster.errors import ClusterError
from cluster.volumes import offer, released
from provider.cluster.opened import is_known, opened
from provider.compare import changed_beside
from provider.kinds import Call, Change, Properties, ProviderError


class VolumeOffer:
    """Afterwards the claim that is declared next can have the volume, also where somebody deleted
    the one before, or its namespace."""

    def identify(self, inputs: Properties) -> str:
        return "volume-offer"

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        updates = changed_beside(call.old_inputs, call.inputs, ("connection",))
        if not self._is_released(call):
            return Change(updates=updates)
        note = f"the claim of volume {call.inputs['volume']} was deleted: the next one gets it"
        return Change(updates=updates, drift=("offered",), notes=(note,))

    def create(self, call: Call) -> Properties:
        try:
            offer(opened(call.inputs), str(call.inputs["volume"]), _owners(call))
        except ClusterError as error:
            raise ProviderError(str(error)) from error
        return {}

    def read(self, call: Call) -> Properties | None:
        return call.outputs

    def update(self, call: Call) -> Properties:
        return self.create(call)

    def delete(self, call: Call) -> None:
        """There is nothing of it."""

    def _is_released(self, call: Call) -> bool:
        if not is_known(call.inputs):
            return False
        try:
            volume = str(call.inputs["volume"])
            return released(opened(call.inputs), volume, _owners(call)) is not None
        except (ClusterError, ProviderError):
            # A preview is not to fail for that.
            return False


def _owners(call: Call) -> set[str]:
    """With the stack's name before it was renamed, as long as the volume bears that."""
    return {str(inputs["owner"]) for inputs in (call.inputs, call.old_inputs) if "owner" in inputs}
