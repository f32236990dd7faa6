"""Which image a container runs, with a registry and without one."""

import pytest

from toolchain.image_tag import image_tag
from workloads.images import default_image, rewritten

REGISTRY = "registry.example.com:5000/team"
DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(("gpus", "kind"), [(0, "cpu"), (1, "gpu"), (8, "gpu")])
def test_a_replicas_gpus_choose_its_image(gpus: int, kind: str) -> None:
    name = f"ack-training-{kind}:{image_tag('gpu' if gpus else 'cpu')}"
    assert default_image(gpus, None) == name
    assert default_image(gpus, REGISTRY) == f"{REGISTRY}/{name}"


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("busybox", "busybox"),
        ("busybox:1.37", "busybox:1.37"),
        ("library/busybox:1.37", "busybox:1.37"),
        ("ghcr.io/kubeflow/training-v1/training-operator:v1", "training-operator:v1"),
        # A port is no tag, wherever it stands.
        ("localhost:5000/a", "a"),
        ("localhost:5000/a:1", "a:1"),
        ("host:5000/x/y/a:v1.2-3_4", "a:v1.2-3_4"),
        (f"host:5000/x/a@{DIGEST}", f"a@{DIGEST}"),
        (f"host:5000/x/a:1@{DIGEST}", f"a:1@{DIGEST}"),
        (f"a@{DIGEST}", f"a@{DIGEST}"),
        # In the same host, but not where the stack's images are.
        ("registry.example.com:5000/other/a:1", "a:1"),
        ("registry.example.com:5000/teams/a:1", "a:1"),
    ],
)
def test_an_image_is_taken_from_the_registry_under_its_last_name(image: str, expected: str) -> None:
    assert rewritten(image, REGISTRY) == f"{REGISTRY}/{expected}"
    # What is in the registry already is at its place, one level deeper too.
    assert rewritten(f"{REGISTRY}/{expected}", REGISTRY) == f"{REGISTRY}/{expected}"
    assert rewritten(f"{REGISTRY}/x/{expected}", REGISTRY) == f"{REGISTRY}/x/{expected}"


@pytest.mark.parametrize("registry", [None, ""])
@pytest.mark.parametrize(
    "image", ["busybox", "host:5000/x/a:1", f"host:5000/x/a:1@{DIGEST}", "ghcr.io/x/y/z:1"]
)
def test_without_a_registry_an_image_stays_as_it_is(image: str, registry: str | None) -> None:
    assert rewritten(image, registry) == image
