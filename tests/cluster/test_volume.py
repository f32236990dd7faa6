"""The Jobs of the shared volume, on a real cluster with a folder of its node."""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.handle import Cluster
from tests.cluster.replica_image import replica_image
from tests.cluster.volumes import JOBS, WORDS, Volume, another_claim, digest, web
from tests.workloads.clusters import OWNER, cluster_stack
from workloads.dataset_job_spec import dataset_job_specs
from workloads.volume.owner_mark import MARK
from workloads.volume.record import RECORD
from workloads.volume_job_spec import volume_job_spec
from workloads.volume_program import volume_scripts

USER = (1000, 1000)


@pytest.fixture(scope="module")
def with_image(cluster: Cluster, image_tools: None) -> Cluster:
    """The cluster, with the image of replicas in it."""
    if cluster.place is None:
        pytest.skip("not in a given cluster: what is on its node is to be seen here")
    image = replica_image()
    cluster.import_image(image.archive, [image.name])
    return cluster


@pytest.fixture
def made(with_image: Cluster, tmp_path: Path) -> Iterator[Callable[[str], Volume]]:
    volumes: list[Volume] = []

    def make(security: str) -> Volume:
        name = f"ack-training-test-{secrets.token_hex(4)}"
        volume = Volume(with_image, name, security, tmp_path / "volume")
        volumes.append(volume)
        volume.make()
        return volume

    yield make
    for volume in volumes:
        volume.remove()


def owner_of(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_uid, status.st_gid


def held(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_that_the_kubelet_makes_becomes_the_users(made: Callable[[str], Volume]) -> None:
    volume = made("baseline")
    reason, said = volume.prepare()
    assert reason == "CompletionsReached"
    assert said.splitlines() == [
        f"{volume.folder / path} was made" for path in ("datasets", "a", "team", "team/b")
    ]
    assert owner_of(volume.folder) == USER
    for path in ("datasets", "a", "team", "team/b"):
        assert owner_of(volume.folder / path) == USER
        assert stat.S_IMODE((volume.folder / path).stat().st_mode) == 0o2775
    before = held(volume.folder)
    assert volume.prepare() == (
        "CompletionsReached",
        f"{volume.folder} is prepared: nothing was changed\n",
    )
    assert held(volume.folder) == before
    reason, said = volume.prepare("acme/other/dev")
    assert reason == "BackoffLimitExceeded"
    assert said.splitlines() == [
        f"{volume.folder / path} belongs to job {job} of stack {OWNER}: set another "
        f"ack-training:jobs.{job}.directory or ack-training:storage; if that stack no longer "
        f"exists, remove {volume.folder / path / MARK}"
        for job, path in (("a", "a"), ("b", "team/b"))
    ]
    assert held(volume.folder) == before


def test_without_root_the_user_is_told_what_to_run(made: Callable[[str], Volume]) -> None:
    volume = made("restricted")
    reason, said = volume.prepare()
    assert reason == "BackoffLimitExceeded"
    assert said == (
        f"{volume.folder} is not writable for user 1000, group 1000: "
        f"on the node run chown 1000:1000 {volume.folder}\n"
    )
    os.chown(volume.folder, *USER)
    assert volume.prepare()[0] == "CompletionsReached"


@pytest.fixture
def filled(made: Callable[[str], Volume]) -> Volume:
    """A volume that is prepared, in a namespace that enforces restricted."""
    volume = made("restricted")
    volume.folder.mkdir(exist_ok=True)
    os.chown(volume.folder, *USER)
    assert volume.prepare()[0] == "CompletionsReached"
    return volume


def test_datasets_of_every_source(filled: Volume, tmp_path: Path) -> None:
    cluster, namespace = filled.cluster, filled.namespace
    datasets = {
        "mnist": {"source": "sample"},
        "words": {"source": "url", "url": web(cluster, namespace), "sha256": digest(WORDS)},
        "etc": {"source": "image", "image": cluster.busybox, "path": "/etc"},
        "old": {"source": "claim", "claim": "old", "path": "deep"},
        "own": {"source": "provided"},
    }
    (tmp_path / "old" / "deep").mkdir(parents=True)
    (tmp_path / "old" / "deep" / "a").write_text("a")
    cluster.apply(*another_claim(namespace, tmp_path / "old"))
    try:
        jobs = dataset_job_specs(filled.stack(jobs=JOBS, datasets=datasets), OWNER)
        ended = dict(zip(jobs, filled.run(*jobs.values()), strict=True))
        folder = filled.folder / "datasets"
        for name, (reason, said) in ended.items():
            assert reason == "CompletionsReached", f"{name}: {said}"
            assert said.startswith(f"{folder / name} was filled from ")
            assert owner_of(folder / name) == USER
            assert (folder / name / RECORD).is_file()
        assert sorted(path.name for path in folder.iterdir()) == sorted(jobs)
        assert (folder / "words" / "words.txt").read_bytes() == WORDS
        assert (folder / "old" / "a").read_text() == "a"
        assert (folder / "etc" / "passwd").is_file()
        before = held(folder)
        for reason, said in filled.run(*jobs.values()):
            assert reason == "CompletionsReached"
            assert said.endswith("nothing was changed\n")
        assert held(folder) == before
        assert sorted(path.name for path in folder.iterdir()) == sorted(jobs)
    finally:
        cluster.kubectl("delete", "persistentvolume", f"{namespace}-old", "--wait=false")


def test_what_an_image_lacks_and_what_is_damaged_reaches_the_user(filled: Volume) -> None:
    image = {"source": "image", "image": filled.cluster.busybox, "path": "/absent"}
    stack = filled.stack(datasets={"absent": image, "mnist": {"source": "sample"}})
    folder = filled.folder / "datasets"
    # Of the user, but not what it is taken for.
    (folder / "mnist").mkdir()
    (folder / "mnist" / "notes").write_text("mine")
    jobs = dataset_job_specs(stack, OWNER)
    absent, mnist = filled.run(jobs["absent"], jobs["mnist"])
    assert absent[0] == mnist[0] == "BackoffLimitExceeded"
    assert absent[1].startswith(f"{folder / 'absent'} is not filled from /absent of image ")
    assert mnist[1].startswith(f"{folder / 'mnist'} holds files, but none of MNIST: ")
    assert sorted(path.name for path in folder.iterdir()) == ["mnist"]
    assert (folder / "mnist" / "notes").read_text() == "mine"


@pytest.mark.parametrize("storage", [{"hostPath": "/srv/x"}, {"claim": "c"}])
@pytest.mark.parametrize("security", ["baseline", "restricted"])
def test_the_api_server_takes_every_job(
    cluster: Cluster, namespace: str, storage: dict[str, Any], security: str
) -> None:
    """Each field is known to it, and none is amiss; and each pod may run in the namespace."""
    at = {"namespace": namespace, "podSecurity": security}
    stack = cluster_stack(
        kubernetes=at,
        storage=storage,
        jobs=JOBS,
        datasets={
            "mnist": {"source": "sample"},
            "words": {"source": "url", "url": "http://example.com/w", "sha256": digest(WORDS)},
            "etc": {"source": "image", "image": "example.com/e:1", "path": "/etc"},
            "old": {"source": "claim", "claim": "old"},
        },
    )
    jobs = [volume_job_spec(stack, OWNER), *dataset_job_specs(stack, OWNER).values()]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": job["metadata"]["name"], "namespace": namespace},
            "spec": job["spec"]["template"]["spec"],
        }
        for job in jobs
    ]
    label = f"pod-security.kubernetes.io/enforce={security}"
    cluster.kubectl("label", "namespace", namespace, label)
    items = [*jobs, *pods, volume_scripts().config_map_spec(namespace)]
    together = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    cluster.kubectl(*("create", "--dry-run=server", "--validate=strict", "-f", "-"), stdin=together)
