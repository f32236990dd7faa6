"""What is too long for a pod is told before anything is made."""

from __future__ import annotations

from typing import Any

import pytest

from config import ConfigErrors, Stack, parse
from config.names import is_env_name
from training.tf_config import cluster_address, tf_config

KIBIBYTE = 1024


def stack(**job: Any) -> Stack:
    return parse(
        {
            "target": "kubernetes",
            "kubernetes": {"context": "test"},
            "storage": {"claim": "data"},
            "jobs": {"m": {"command": ["train"], **job}},
        }
    )


def test_text_of_127_kibibytes_is_accepted_and_of_128_refused() -> None:
    half = "x" * 64 * KIBIBYTE
    stack(chief={}, args=[half[KIBIBYTE:]], env={"A": half})
    with pytest.raises(ConfigErrors) as caught:
        stack(chief={}, args=[half], env={"A": half})
    assert caught.value.lines == [
        "ack-training:jobs.m: its command, args and env have 131,100 bytes, and may have 131,072; "
        "put long ones into a file on the shared storage"
    ]


@pytest.mark.parametrize("workers", [1, 2, 3800, 3900, 4400])
def test_no_accepted_job_has_a_longer_tf_config_than_linux_takes(workers: int) -> None:
    roles: dict[str, Any] = {"chief": {}, "worker": {"replicas": workers}}
    address = cluster_address("m", "training")
    text = tf_config({"chief": 1, "worker": workers}, "worker", 0, address)
    fits = len(f"TF_CONFIG={text}\0") <= 128 * KIBIBYTE
    try:
        stack(**roles)
    except ConfigErrors:
        assert not fits
    else:
        assert fits


def test_a_variables_name_may_be_a_key_of_a_secret() -> None:
    assert is_env_name("A" * 253)
    assert not is_env_name("A" * 254)
