"""Which kind serves which resource type."""

from functools import cache
from importlib import import_module

from provider.kinds import Kind

_KINDS = {
    "acktraining:local:Machine": "provider.machine:Machine",
    "acktraining:local:Dataset": "provider.dataset:Dataset",
    "acktraining:local:Service": "provider.service:Service",
    "acktraining:local:Job": "provider.job:Job",
    "acktraining:cluster:Connection": "provider.cluster.connection:Connection",
    "acktraining:cluster:SharedObject": "provider.cluster.shared_object:SharedObject",
    "acktraining:cluster:TrainingRun": "provider.cluster.training_run:TrainingRun",
    "acktraining:cluster:VolumeOffer": "provider.cluster.volume_offer:VolumeOffer",
    "acktraining:cluster:DestroyGuard": "provider.cluster.destroy_guard:DestroyGuard",
}


@cache
def kind_of(token: str) -> Kind | None:
    """The kind of `token`, loaded when it is first asked for; None for an unknown one."""
    place = _KINDS.get(token)
    if place is None:
        return None
    module, _, name = place.partition(":")
    kind: Kind = getattr(import_module(module), name)()
    return kind
