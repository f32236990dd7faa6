"""Whether the cluster of a stack is there, and lets the user do what the stack needs."""

from cluster.errors import ClusterError
from cluster.ownership import foreign
from cluster.requirements import unmet
from provider.cluster.link import LINK, is_to_be_recorded, linked, other_cluster
from provider.cluster.notices import notices
from provider.cluster.opened import identified, is_gone_for_good, is_known, opened
from provider.cluster.removals import removals
from provider.compare import changed_beside
from provider.kinds import Call, Change, Properties, ProviderError

_NOT_SHOWN = ("connection", "declares", "requires", "wants", "identity")
_FORMERLY = "formerly"
"""The labels that the stack had before it was renamed, the first one first."""
_IDENTITY = "identity"
"""What tells the cluster from every other one, wherever it is reached."""


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
            name = str(call.inputs.get("owner"))
            # A state that has recorded nothing owns nothing.
            owners = {name, *_formerly(call)} if "owner" in call.old_inputs else set()
            refusal = refusal or foreign(cluster, name, owners, call.inputs.get("declares") or [])
        except (ClusterError, ProviderError) as error:
            return [str(error)]
        if refusal is not None:
            return [refusal]
        for sentence in notices(cluster, call.inputs):
            call.announce(sentence)
        return []

    def remembered(self, call: Call) -> Properties:
        identity = _identity(call)
        return {_FORMERLY: _formerly(call)} | ({_IDENTITY: identity} if identity else {})

    def compare(self, call: Call) -> Change:
        # Where the kubeconfig lies is of this machine: another one is no change of the stack. What
        # the stack declares shows where it is declared.
        updates = changed_beside(call.old_inputs, call.inputs, _NOT_SHOWN)
        note = _moved(call)
        return Change(
            updates=updates,
            drift=(LINK,) if is_to_be_recorded(call) else (),
            notes=(*(() if note is None else (note,)), *removals(call)),
        )

    def create(self, call: Call) -> Properties:
        return {**self.remembered(call), **linked(call)}

    def read(self, call: Call) -> Properties | None:
        """A refresh records which cluster it is. ProviderError when it is another one or does not
        answer; Pulumi's provider says so too then, in words of its own."""
        if not is_known(call.inputs) or is_gone_for_good():
            return call.outputs
        link = call.outputs.get(LINK) or {}
        try:
            refusal = other_cluster(link) if link else None
            if refusal is None:
                return {**call.outputs, **linked(call)}
        except (ClusterError, ProviderError) as error:
            refusal = str(error)
        raise ProviderError(f"{refusal}; nothing of the stack was forgotten")

    def update(self, call: Call) -> Properties:
        return self.create(call)

    def delete(self, call: Call) -> None:
        """There is nothing of it."""


def _formerly(call: Call) -> list[str]:
    """Kept for good: a rename whose first `up` failed goes on with the next one."""
    completed = call.inputs.get(_FORMERLY)
    if completed is not None:
        return [str(name) for name in completed]
    known = [str(name) for name in call.old_inputs.get(_FORMERLY) or []]
    old = call.old_inputs.get("owner")
    renamed = old is not None and old != call.inputs.get("owner")
    return [*known, str(old)] if renamed else known


def _identity(call: Call) -> str | None:
    """The cluster's uid; its URL where the user may not see that, and nobody could before. None
    where it cannot be asked, as in the first preview of a stack that makes it."""
    completed = call.inputs.get(_IDENTITY)
    known = call.old_inputs.get(_IDENTITY)
    same = call.old_inputs.get("connection") == call.inputs.get("connection")
    if completed is not None:
        return str(completed)
    if not is_known(call.inputs):
        return None
    try:
        found = identified(call.inputs)
    except (ClusterError, ProviderError):
        # Whoever asks for this has the refusal beside it.
        return None if known is None else str(known)
    uid = found["uid"] or (known if same else None)
    return str(uid or found["server"])


def _moved(call: Call) -> str | None:
    """What another namespace makes of the stack, in a sentence; None where it is the same one."""
    old, new = call.old_inputs.get("namespace"), call.inputs.get("namespace")
    if old is None or old == new:
        return None
    again = f"the jobs are ended in namespace {old} and made again in {new}"
    if any(group["kind"] == "PersistentVolume" for group in call.inputs.get("declares") or []):
        return f"{again}, where they go on from their checkpoints: the data stays where it is"
    return f"{again}; the data stays in the claim of {old}, and does not come along"
