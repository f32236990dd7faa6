"""A volume that lost its claim waits for the next one, if it is the stack's own."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.volumes import offer, released
from tests.cluster_reading.test_ownership import OWN, Api, found

PATH = "/api/v1/persistentvolumes/training"


class Patched(Api):
    def __init__(self, phase: str, owner: str | None = OWN) -> None:
        volume = found("training", owner, "PersistentVolume")
        super().__init__({PATH: {**volume, "status": {"phase": phase}}})
        self.merged: list[tuple[str, Any]] = []

    def merge(self, path: str, body: Any) -> dict[str, Any]:
        self.merged.append((path, body))
        return {}


def test_a_released_volume_forgets_the_claim_that_is_gone_and_nothing_else() -> None:
    api: Any = Patched("Released")
    assert released(api, "training", [OWN]) is not None
    offer(api, "training", [OWN])
    gone = {"claimRef": {"uid": None, "resourceVersion": None}}
    assert api.merged == [(PATH, {"metadata": {"resourceVersion": "7"}, "spec": gone})]


@pytest.mark.parametrize(
    "api",
    [
        Patched("Bound"),
        Patched("Available"),
        Patched("Released", None),
        Patched("Released", "another"),
        Api({}),
    ],
)
def test_any_other_volume_is_left(api: Any) -> None:
    assert released(api, "training", [OWN]) is None
    offer(api, "training", [OWN])
    assert getattr(api, "merged", []) == []
