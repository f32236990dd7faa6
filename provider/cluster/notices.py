"""What a preview tells of a cluster although the stack may well be made."""

from collections.abc import Callable

from cluster.client import Cluster
from cluster.errors import ClusterError
from cluster.fitting import matching, misfits
from cluster.terminating import terminating
from cluster.together import together
from provider.kinds import Properties

_Question = Callable[[], list[str]]


def notices(cluster: Cluster, inputs: Properties) -> list[str]:
    """One sentence each, in a fixed order; none of what cannot be asked."""
    wants = inputs.get("wants") or {}
    owner, namespace = str(inputs.get("owner")), inputs["namespace"]
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    named = wants.get("claims") or []
    questions: list[_Question] = [
        lambda: terminating(cluster, claims, "PersistentVolumeClaim", owner, named),
        lambda: terminating(cluster, "/api/v1/persistentvolumes", "PersistentVolume", owner),
        *(_fitting(cluster, group) for group in wants.get("nodes") or []),
    ]
    answers = together([_forgiving(question) for question in questions])
    return list(dict.fromkeys(sentence for answer in answers for sentence in answer))


def _fitting(cluster: Cluster, group: Properties) -> _Question:
    def ask() -> list[str]:
        nodes = matching(cluster, group.get("labels") or {})
        return [] if nodes is None else list(misfits(group, nodes))

    return ask


def _forgiving(question: _Question) -> _Question:
    def ask() -> list[str]:
        try:
            return question()
        except ClusterError:
            # Not what the preview is about: whether it answers at all was found out before.
            return []

    return ask
