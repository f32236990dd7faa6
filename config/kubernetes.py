"""An existing cluster, as it stands under `ack-training:kubernetes`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from config.base import Change, Section, Whole, setting
from config.names import FilledString, KubeconfigPath, Label

PodSecurity = Literal["baseline", "restricted"]

_MOST_ID = 2**31 - 1


class Kubernetes(Section):
    """The cluster of the kubernetes target. The stack never goes to whatever cluster the shell
    points at: kubeconfig, context or both have to name it."""

    looks_like: ClassVar = "{context: kind-dev}"
    refused_keys: ClassVar = {
        "cluster": "write context, the name that `kubectl config get-contexts` shows",
        "currentcontext": "write context",
        "incluster": "not offered: name the cluster by kubeconfig or context",
    }

    kubeconfig: KubeconfigPath | None = setting(
        "Kubeconfig file, absolute, from ~ or relative to the project; for a stack of several "
        "people, one that each of them has there. When absent: the files of each machine's "
        "KUBECONFIG, else ~/.kube/config, and context has to name the cluster.",
        Change.NO_CHANGE,
    )
    context: FilledString | None = setting(
        "Context in the kubeconfig. When absent, the kubeconfig's only one; its current-context "
        "does not count.",
        Change.OTHER_CLUSTER,
    )
    namespace: Label = setting(
        "Namespace of the jobs and services.", Change.OTHER_NAMESPACE, "training"
    )
    create_namespace: bool = setting(
        "Whether the stack makes the namespace, where it is absent, and has it enforce "
        "podSecurity. false: it is there already and is left as it is, which takes no right on it.",
        Change.IN_PLACE,
        True,
    )
    pod_security: PodSecurity = setting(
        "Pod Security Standard that the namespace enforces: baseline or restricted. What pods of "
        "this stack get passes both.",
        Change.IN_PLACE,
        "baseline",
    )
    run_as_user: Annotated[int, Whole(1, _MOST_ID)] = setting(
        "User id of the pods' processes, at least 1; what they write belongs to it.",
        Change.REPLACES,
        1000,
    )
    run_as_group: Annotated[int, Whole(1, _MOST_ID)] = setting(
        "Group id of the pods' processes, at least 1.", Change.REPLACES, 1000
    )
