"""What a preview tells of a cluster although the stack may well be made."""

import threading
from collections.abc import Callable

from cluster.client import Cluster
from cluster.errors import ClusterError
from cluster.fitting import matching, misfits
from cluster.terminating import terminating
from provider.kinds import Properties


def notices(cluster: Cluster, inputs: Properties) -> list[str]:
    """One sentence each, in a fixed order; none of what cannot be asked."""
    wants = inputs.get("wants") or {}
    owner, namespace = str(inputs.get("owner")), inputs["namespace"]
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    named = wants.get("claims") or []
    questions: list[Callable[[], list[str]]] = [
        lambda: terminating(cluster, claims, "PersistentVolumeClaim", owner, named),
        lambda: terminating(cluster, "/api/v1/persistentvolumes", "PersistentVolume", owner),
        *(_fitting(cluster, group) for group in wants.get("nodes") or []),
    ]
    answers: list[list[str]] = [[] for _ in questions]

    def ask(number: int) -> None:
        try:
            answers[number] = questions[number]()
        except ClusterError:
            # Not what the preview is about: whether it answers at all was found out before.
            answers[number] = []

    # Daemons: who presses ctrl-C does not wait for the last answer.
    threads = [
        threading.Thread(target=ask, args=(number,), daemon=True)
        for number in range(len(questions))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(dict.fromkeys(sentence for answer in answers for sentence in answer))


def _fitting(cluster: Cluster, group: Properties) -> Callable[[], list[str]]:
    def ask() -> list[str]:
        nodes = matching(cluster, group.get("labels") or {})
        return [] if nodes is None else list(misfits(group, nodes))

    return ask
