"""What runs on the cluster for every job: the shared volume, datasets, TensorBoard."""

from __future__ import annotations

import json

import pulumi

from config.stack import Stack
from infra.cluster import Cluster
from infra.kubernetes_object import stack_label
from workloads.dataset_job_spec import dataset_job_specs
from workloads.owners_config_map import owners_config_map
from workloads.pods import Manifest
from workloads.shared_storage_spec import claim_spec, persistent_volume_spec
from workloads.tensorboard_spec import NAME, tensorboard_port, tensorboard_specs
from workloads.volume_job_spec import volume_job_spec
from workloads.volume_offer import VolumeOffer
from workloads.volume_program import volume_scripts

_ANOTHERS_VOLUME = (
    "set another ack-training:kubernetes.namespace, or delete that one if nobody uses it"
)
_ANOTHERS_CLAIM = (
    "have it used as it is by ack-training:storage.claim, or set another "
    "ack-training:kubernetes.namespace"
)
_ANOTHERS_TENSORBOARD = (
    "set another ack-training:kubernetes.namespace, or ack-training:tensorboard.enabled to false"
)


class SharedStorage(pulumi.ComponentResource):
    """The claim of the shared volume, its folders, and the datasets on it.

    Afterwards pods can mount the jobs' folders and read the datasets. What a StorageClass made is
    kept when the stack is destroyed, as it goes with its claim; an NFS export's or a node's data
    stays in any case.
    """

    def __init__(self, stack: Stack, cluster: Cluster, after: list[pulumi.Resource]) -> None:
        super().__init__(
            "ackTraining:workloads:SharedStorage",
            "shared-storage",
            None,
            pulumi.ResourceOptions(parent=cluster),
        )
        kept = stack.storage.storage_class is not None
        for name, manifest, hint in (
            ("volume", persistent_volume_spec(stack), _ANOTHERS_VOLUME),
            ("claim", claim_spec(stack), _ANOTHERS_CLAIM),
        ):
            if manifest is not None:
                made = cluster.declare(
                    name,
                    manifest,
                    parent=self,
                    depends_on=after,
                    hint=hint,
                    retain_on_delete=kept,
                    # Another one has another name, and this one is in use until its pods are gone.
                    delete_before_replace=False,
                )
                after = [*after, made]
                if manifest["kind"] == "PersistentVolume":
                    volume = str(manifest["metadata"]["name"])
                    after = [*after, VolumeOffer(volume, cluster, self, after)]
        scripts = cluster.declare(
            "volume-scripts",
            volume_scripts().config_map_spec(stack.kubernetes.namespace),
            parent=self,
            depends_on=after,
        )
        owners = cluster.declare(
            "owners",
            owners_config_map(
                stack.kubernetes.namespace, cluster.connection.formerly.apply(json.dumps)
            ),
            parent=self,
            depends_on=after,
        )
        after = [*after, scripts, owners]
        owner = stack_label()
        folders = cluster.declare(
            "folders", volume_job_spec(stack, owner), parent=self, depends_on=after
        )
        self.ready: list[pulumi.Resource] = [folders]
        """What pods that mount the volume have to wait for."""
        for name, manifest in dataset_job_specs(stack, owner).items():
            needed = [*after, folders]
            self.ready.append(
                cluster.declare(f"dataset-{name}", manifest, parent=self, depends_on=needed)
            )
        self.register_outputs({})


class TensorBoard(pulumi.ComponentResource):
    """TensorBoard over the logs of every job. Output: `url`, which pods of the cluster can open;
    `make tensorboard` brings it to this machine."""

    def __init__(self, stack: Stack, cluster: Cluster, storage: SharedStorage) -> None:
        super().__init__(
            "ackTraining:workloads:TensorBoard", NAME, None, pulumi.ResourceOptions(parent=cluster)
        )
        for kind, manifest in tensorboard_specs(stack).items():
            cluster.declare(
                _logical_name(kind, manifest),
                manifest,
                parent=self,
                depends_on=storage.ready,
                hint=_ANOTHERS_TENSORBOARD,
            )
        namespace, settings = stack.kubernetes.namespace, stack.tensorboard
        self.url = f"http://{NAME}.{namespace}.svc:{tensorboard_port(stack)}{settings.path_prefix}/"
        self.register_outputs({"url": self.url})


def _logical_name(kind: str, manifest: Manifest) -> str:
    return f"{manifest['metadata']['name']}-{kind.lower()}"
