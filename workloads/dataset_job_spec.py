"""The Jobs that put datasets on the shared volume, while they are not there."""

from __future__ import annotations

from config.datasets import Dataset
from config.stack import Stack
from workloads.batch_job_spec import batch_job_spec
from workloads.images import rewritten
from workloads.pods import (
    SHARED_VOLUME,
    Manifest,
    container_security,
    scratch_volume,
    shared_mount,
    shared_volume,
)
from workloads.shared_storage_spec import claim_name
from workloads.volume.filling import DATASETS, data_folder
from workloads.volume_program import (
    container_resources,
    place_arguments,
    program_container,
    volume_scripts,
)

_SAMPLE_SECONDS = 600
_DEADLINE_SECONDS = 12 * 3600
"""For data of any size, such as 5 TB at 1 Gbit/s."""
_MEMORY = "1Gi"
"""Of it the sample takes a third; the pages of files that are written count too, and are given back
when they are needed."""

_SOURCE = "/source"
_STATUS = "/status"
_FILLING = "/filling"

# With links resolved, since most lead to where the pods that read the data see nothing. What went
# wrong is told by the container that comes after it: Pulumi shows nothing of an init container.
_COPY = (
    f'[ -e {_STATUS}/skip ] || {{ cp -RL "$1/." {_FILLING}/ 2>{_STATUS}/errors; '
    f"echo $? >{_STATUS}/code; }}"
)


def dataset_job_specs(stack: Stack, owner: str) -> dict[str, Manifest]:
    """For each dataset that is not `provided`, by its name, the Job after which it is there.

    The volume has to be prepared before. `owner` is organization/project/stack; two stacks that
    fill one folder of one volume at once do each other no harm.
    """
    return {
        name: _job(stack, owner, name, dataset)
        for name, dataset in stack.datasets.items()
        if dataset.source != "provided"
    }


def _job(stack: Stack, owner: str, name: str, dataset: Dataset) -> Manifest:
    place = place_arguments(stack, owner)
    volumes = [volume_scripts().volume(), shared_volume(claim_name(stack)), scratch_volume()]
    mounts = [shared_mount(DATASETS, read_only=False), {"name": "tmp", "mountPath": "/tmp"}]
    first: list[Manifest] = []
    match dataset.source:
        case "url":
            arguments = ["url", *place, name, str(dataset.url), str(dataset.sha256)]
        case "claim":
            arguments = ["claim", *place, name, str(dataset.claim), dataset.path or "."]
            volumes.append(
                {
                    "name": "source",
                    "persistentVolumeClaim": {"claimName": dataset.claim, "readOnly": True},
                }
            )
            mounts.append({"name": "source", "mountPath": _SOURCE, "readOnly": True})
            arguments.append(_SOURCE)
        case "image":
            image = rewritten(str(dataset.image), stack.image_registry)
            volumes.append(scratch_volume("status"))
            mounts.append({"name": "status", "mountPath": _STATUS})
            begin = ["begin-image", *place, name, _STATUS]
            first = [
                program_container(stack, "begin", begin, _MEMORY, mounts),
                _copy_container(image, str(dataset.path), data_folder(name, owner)),
            ]
            arguments = ["finish-image", *place, name, image, str(dataset.path), _STATUS]
        case _:
            arguments = ["sample", *place, name]
    return batch_job_spec(
        stack,
        f"dataset-{name}",
        first,
        program_container(stack, "fill", arguments, _MEMORY, mounts),
        volumes,
        _SAMPLE_SECONDS if dataset.source == "sample" else _DEADLINE_SECONDS,
    )


def _copy_container(image: str, path: str, folder: str) -> Manifest:
    """A container of the user's image, which sees nothing of the volume but the folder to fill."""
    return {
        "name": "copy",
        "image": image,
        "command": ["sh", "-c", _COPY, "sh", path.rstrip("/")],
        "resources": container_resources(_MEMORY),
        "securityContext": container_security(writes_root=False),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {
                "name": SHARED_VOLUME,
                "mountPath": _FILLING,
                "subPath": f"{DATASETS}/{folder}",
            },
            {"name": "status", "mountPath": _STATUS},
        ],
    }
