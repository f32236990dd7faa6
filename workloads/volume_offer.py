"""What stands between a PersistentVolume and its claim."""

from __future__ import annotations

import pulumi

from infra.cluster import Cluster
from infra.kubernetes_object import stack_label


class VolumeOffer(pulumi.CustomResource):
    """Exists while the claim that is declared after it can have `volume`: one whose claim somebody
    deleted holds on to that, and a new claim would wait for it in vain."""

    def __init__(
        self, volume: str, cluster: Cluster, parent: pulumi.Resource, after: list[pulumi.Resource]
    ) -> None:
        super().__init__(
            "acktraining:cluster:VolumeOffer",
            "volume-offer",
            {
                "connection": cluster.connection_settings,
                "volume": volume,
                "owner": stack_label(),
            },
            pulumi.ResourceOptions(parent=parent, depends_on=[cluster.connection, *after]),
        )
