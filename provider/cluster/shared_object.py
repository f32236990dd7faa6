"""What a stack makes and others may use too: it is removed when it is of no more use."""

from cluster.errors import ClusterError, UnreachableError
from cluster.leftovers import is_anothers, remove
from provider.cluster.opened import is_gone_for_good, is_known, opened
from provider.compare import changed_beside
from provider.kinds import Call, Change, Properties, ProviderError


class SharedObject:
    """Stands for a namespace or a definition, before it is made and after all that is in it is
    gone: then it is removed, if the stack made it and nothing else is in it."""

    def identify(self, inputs: Properties) -> str:
        return str(inputs["path"])

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        return Change(updates=changed_beside(call.old_inputs, call.inputs, ("connection",)))

    def create(self, call: Call) -> Properties:
        return {"owners": self._owners(call), "before": self._before(call)}

    def read(self, call: Call) -> Properties | None:
        """On a cluster that was made again, others may have been first."""
        if is_gone_for_good():
            return call.outputs
        return {**call.outputs, "before": self._before(call)}

    def update(self, call: Call) -> Properties:
        return self.create(call)

    def delete(self, call: Call) -> None:
        if call.outputs.get("before"):
            return
        try:
            kept = remove(opened(call.inputs), self._owners(call), str(call.inputs["path"]))
        except (ClusterError, ProviderError) as error:
            # The guard has refused what is not to be forgotten.
            if isinstance(error, UnreachableError) or is_gone_for_good():
                return
            raise ProviderError(str(error)) from error
        if kept is not None:
            call.announce(kept)

    def _owners(self, call: Call) -> list[str]:
        """The stack's labels, with those that it had before it was renamed."""
        known = [str(name) for name in call.outputs.get("owners") or []]
        return sorted({*known, str(call.inputs["owner"])})

    def _before(self, call: Call) -> bool:
        """Whether it was there before the stack, and stays after it."""
        if call.outputs.get("before") or not is_known(call.inputs):
            return bool(call.outputs.get("before"))
        try:
            return is_anothers(opened(call.inputs), self._owners(call), str(call.inputs["path"]))
        except ClusterError as error:
            raise ProviderError(str(error)) from error
