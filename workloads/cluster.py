"""What runs on the cluster for every job: the shared volume, datasets, TensorBoard."""

from __future__ import annotations

import pulumi

from config.stack import Stack
from infra.cluster import Cluster
from infra.kubernetes_object import KubernetesObject, stack_label
from workloads.dataset_job_spec import dataset_job_specs
from workloads.pods import Manifest
from workloads.shared_storage_spec import claim_spec, persistent_volume_spec
from workloads.tensorboard_spec import NAME, tensorboard_port, tensorboard_specs
from workloads.volume_job_spec import volume_job_spec
from workloads.volume_program import volume_scripts


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
        for name, manifest in (
            ("volume", persistent_volume_spec(stack)),
            ("claim", claim_spec(stack)),
        ):
            if manifest is not None:
                options = cluster.options(
                    parent=self,
                    depends_on=after,
                    retain_on_delete=kept,
                    # Another one has another name, and this one is in use until its pods are gone.
                    delete_before_replace=False,
                )
                after = [*after, KubernetesObject(name, manifest, options)]
        scripts = KubernetesObject(
            "volume-scripts",
            volume_scripts().config_map_spec(stack.kubernetes.namespace),
            cluster.options(parent=self, depends_on=after),
        )
        after = [*after, scripts]
        owner = stack_label()
        folders = KubernetesObject(
            "folders",
            volume_job_spec(stack, owner),
            cluster.options(parent=self, depends_on=after),
        )
        self.ready: list[pulumi.Resource] = [folders]
        """What pods that mount the volume have to wait for."""
        for name, manifest in dataset_job_specs(stack, owner).items():
            options = cluster.options(parent=self, depends_on=[*after, folders])
            self.ready.append(KubernetesObject(f"dataset-{name}", manifest, options))
        self.register_outputs({})


class TensorBoard(pulumi.ComponentResource):
    """TensorBoard over the logs of every job. Output: `url`, which pods of the cluster can open;
    `make tensorboard` brings it to this machine."""

    def __init__(self, stack: Stack, cluster: Cluster, storage: SharedStorage) -> None:
        super().__init__(
            "ackTraining:workloads:TensorBoard", NAME, None, pulumi.ResourceOptions(parent=cluster)
        )
        for kind, manifest in tensorboard_specs(stack).items():
            KubernetesObject(
                _logical_name(kind, manifest),
                manifest,
                cluster.options(parent=self, depends_on=storage.ready),
            )
        namespace, settings = stack.kubernetes.namespace, stack.tensorboard
        self.url = f"http://{NAME}.{namespace}.svc:{tensorboard_port(stack)}{settings.path_prefix}/"
        self.register_outputs({"url": self.url})


def _logical_name(kind: str, manifest: Manifest) -> str:
    return f"{manifest['metadata']['name']}-{kind.lower()}"
