"""Whether the cluster of a stack is there, and lets the user do what the stack needs."""

import re

from cluster.errors import ClusterError, UnreachableError
from cluster.leftovers import present, remove
from cluster.ownership import foreign
from cluster.requirements import unmet
from provider.cluster.link import LINK, is_new_cluster, is_to_be_recorded, linked, other_cluster
from provider.cluster.notices import notices
from provider.cluster.opened import is_gone_for_good, is_known, opened
from provider.compare import changed_paths
from provider.kinds import Call, Change, Properties, ProviderError

_NOT_SHOWN = ("connection", "declares", "requires", "wants")


class Connection:
    """Afterwards the cluster was reachable, and everything else may be declared. One sentence at
    the preview, from this resource alone, where it is not."""

    def identify(self, inputs: Properties) -> str:
        return "cluster"

    def refusals(self, call: Call) -> list[str]:
        if not is_known(call.inputs):
            return []
        try:
            cluster = opened(call.inputs)
            refusal = unmet(
                cluster, str(call.inputs["namespace"]), call.inputs.get("requires") or []
            )
            # A stack that was renamed has its old name on everything, and in its own state.
            name, old = str(call.inputs.get("owner")), call.old_inputs.get("owner")
            owners = {name, str(old)} if old else set()
            refusal = refusal or foreign(cluster, name, owners, call.inputs.get("declares") or [])
        except (ClusterError, ProviderError) as error:
            return [str(error)]
        if refusal is not None:
            return [refusal]
        for sentence in notices(cluster, call.inputs):
            call.announce(sentence)
        return []

    def compare(self, call: Call) -> Change:
        changed = changed_paths(call.old_inputs, call.inputs)
        # Where the kubeconfig lies is of this machine: another one is no change of the stack. What
        # the stack declares shows where it is declared.
        return Change(
            updates=tuple(
                path for path in changed if re.split(r"[.\[]", path)[0] not in _NOT_SHOWN
            ),
            drift=(LINK,) if is_to_be_recorded(call) else (),
        )

    def create(self, call: Call) -> Properties:
        return {"before": self._before(call), **linked(call)}

    def read(self, call: Call) -> Properties | None:
        """A refresh records which cluster it is. ProviderError when it is another one or does not
        answer; Pulumi's provider says so too then, in words of its own."""
        if not is_known(call.inputs) or is_gone_for_good():
            return call.outputs
        link = call.outputs.get(LINK) or {}
        try:
            refusal = other_cluster(link) if link else None
            again = bool(link) and refusal is None and is_new_cluster(link)
            if refusal is None:
                # Of a new cluster nothing is the stack's yet.
                before = self._before(call) if again else call.outputs.get("before") or []
                return {"before": before, **linked(call)}
        except (ClusterError, ProviderError) as error:
            refusal = str(error)
        raise ProviderError(f"{refusal}; nothing of the stack was forgotten")

    def update(self, call: Call) -> Properties:
        known = list(call.outputs.get("before") or [])
        return {"before": sorted({*known, *self._before(call)}), **linked(call)}

    def delete(self, call: Call) -> None:
        """All of the stack is gone by now: what it made for itself and others may use too goes, if
        nothing is in it."""
        try:
            kept = remove(
                opened(call.inputs),
                str(call.inputs.get("owner")),
                call.inputs.get("shares") or {},
                call.outputs.get("before") or [],
            )
        except UnreachableError:
            # Who asks for it wants to forget a cluster that is gone: the guard refuses all else.
            return
        except ClusterError as error:
            raise ProviderError(str(error)) from error
        for sentence in kept:
            call.announce(sentence)

    def _before(self, call: Call) -> list[str]:
        """What of the shared objects was there before the stack, and stays after it."""
        if not is_known(call.inputs):
            return []
        try:
            return present(
                opened(call.inputs), str(call.inputs.get("owner")), call.inputs.get("shares") or {}
            )
        except ClusterError as error:
            raise ProviderError(str(error)) from error
