"""The cluster that a stack is linked to: what is recorded of it, and whether that still holds."""

from typing import Any

from cluster.errors import ClusterError
from cluster.identity import is_another, is_made_again
from provider.cluster.opened import identified, is_known, opened
from provider.kinds import Call, Properties, ProviderError

LINK = "link"
"""The output that holds the connection's settings and the identity of the cluster they led to."""


class OtherClusterError(ProviderError):
    """The stack's settings are as they were, and lead to a cluster that they did not lead to."""


def linked(call: Call) -> dict[str, Any]:
    """The output to record. ProviderError when the cluster cannot be asked."""
    if not is_known(call.inputs):
        return {}
    known = recorded(call.inputs, call.outputs)
    try:
        found = identified(call.inputs)
    except ClusterError as error:
        raise ProviderError(str(error)) from error
    uid = found["uid"]
    if uid is None and found["server"] == known.get("server"):
        # This user may not see what another one recorded.
        uid = known.get("uid")
    link = {"connection": dict(call.inputs["connection"]), "server": found["server"]}
    # What is None would not come back from the state.
    return {LINK: link if uid is None else {**link, "uid": uid}}


def is_to_be_recorded(call: Call) -> bool:
    """Whether a comparison finds the record out of date. ProviderError as of
    `refuse_other_cluster`, and when the cluster cannot be asked."""
    if not is_known(call.inputs):
        return False
    refuse_other_cluster(call)
    return {LINK: call.outputs.get(LINK)} != linked(call)


def other_cluster(link: Properties) -> str | None:
    """Why the settings of `link` lead to another cluster than they did, in a sentence; None when
    they do not. ClusterError when the cluster cannot be asked."""
    cluster = opened(link)
    if cluster.server == link["server"] or not is_another(link, identified(link)):
        # With the same URL nothing is asked of the cluster, which keeps this cheap.
        return None
    return (
        f"context {link['connection'].get('context')} is another cluster ({cluster.server}) than "
        f"the stack's ({link['server']}): have it lead to the stack's cluster again, or name that "
        "one in ack-training:kubernetes"
    )


def is_new_cluster(link: Properties) -> bool:
    """Whether the cluster was made anew where the recorded one stood. ClusterError when it cannot
    be asked."""
    return is_made_again(link, identified(link))


def refuse_other_cluster(call: Call) -> None:
    """OtherClusterError when the recorded settings, which did not change, lead to another cluster
    than the recorded one, or to one that was made anew in its place. ProviderError when the
    cluster cannot be asked."""
    link = recorded(call.inputs, call.outputs)
    if not link:
        return
    try:
        refusal = other_cluster(link)
        again = refusal is None and is_new_cluster(link)
    except ClusterError as error:
        raise ProviderError(str(error)) from error
    if again:
        refusal = (
            f"the cluster of context {link['connection'].get('context')} ({link['server']}) was "
            "made again since the stack was: `pulumi refresh` forgets what the old one held, and "
            "`pulumi up` makes it again"
        )
    if refusal is not None:
        raise OtherClusterError(refusal)


def recorded(inputs: Properties, outputs: Properties) -> Properties:
    """What is recorded of the very settings that hold now; empty when they changed."""
    link: Properties = outputs.get(LINK) or {}
    return link if link.get("connection") == inputs.get("connection") else {}
