"""The PersistentVolume and claim of each kind of shared storage."""

from __future__ import annotations

from typing import Any

from config import Stack, parse
from workloads.shared_storage_spec import claim_name, claim_spec, persistent_volume_spec


def stack(storage: dict[str, Any]) -> Stack:
    return parse(
        {
            "target": "kubernetes",
            "kubernetes": {"context": "a", "namespace": "research"},
            "storage": storage,
        }
    )


def test_an_nfs_export() -> None:
    nfs = {"server": "10.0.0.5", "path": "/training", "options": ["vers=3", "nolock"]}
    found = stack({"nfs": nfs, "size": "1Ti"})
    volume, claim = persistent_volume_spec(found), claim_spec(found)
    assert volume is not None and claim is not None
    name = claim_name(found)
    assert name.startswith("training-data-")
    assert volume["metadata"]["name"] == f"research-{name}"
    assert volume["spec"] == {
        "capacity": {"storage": "1Ti"},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "claimRef": {"namespace": "research", "name": name},
        "nfs": {"server": "10.0.0.5", "path": "/training"},
        "mountOptions": ["vers=3", "nolock"],
    }
    assert claim["metadata"]["namespace"] == "research"
    assert claim["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Ti"}},
        "storageClassName": "",
        "volumeName": f"research-{name}",
    }


def test_a_folder_of_the_node() -> None:
    volume = persistent_volume_spec(stack({"hostPath": "/srv/training"}))
    assert volume is not None
    assert volume["spec"]["hostPath"] == {"path": "/srv/training", "type": "DirectoryOrCreate"}
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["spec"]["capacity"] == {"storage": "100Gi"}


def test_a_storage_class() -> None:
    found = stack({"storageClass": "fast"})
    claim = claim_spec(found)
    assert persistent_volume_spec(found) is None
    assert claim is not None
    assert claim["spec"]["storageClassName"] == "fast"
    assert "volumeName" not in claim["spec"]


def test_a_claim_of_the_users_own() -> None:
    found = stack({"claim": "mine"})
    assert (persistent_volume_spec(found), claim_spec(found)) == (None, None)
    assert claim_name(found) == "mine"


def test_another_source_is_another_claim_and_a_claim_can_grow() -> None:
    sources: list[dict[str, Any]] = [
        {"storageClass": "fast"},
        {"storageClass": "slow"},
        {"hostPath": "/srv/a"},
        {"hostPath": "/srv/b"},
        {"hostPath": "/srv/a", "size": "1Ti"},
        {"nfs": {"server": "a"}},
        {"nfs": {"server": "a", "path": "/b"}},
        {"nfs": {"server": "a", "options": ["vers=3"]}},
    ]
    names = [claim_name(stack(source)) for source in sources]
    assert len(set(names)) == len(names)
    assert claim_name(stack({"storageClass": "fast", "size": "1Ti"})) == names[0]
