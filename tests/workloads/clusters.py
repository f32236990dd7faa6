"""Stacks of a cluster, as small as a test wants them."""

from __future__ import annotations

from typing import Any

from config import parse
from config.stack import Stack

OWNER = "acme/training/dev"


def cluster_stack(*, kubernetes: dict[str, Any] | None = None, **settings: Any) -> Stack:
    return parse(
        {
            "target": "kubernetes",
            "kubernetes": {"context": "test", **(kubernetes or {})},
            "operator": {"install": False},
            "storage": {"nfs": {"server": "10.0.0.5", "path": "/exports/training"}},
            "datasets": {},
            **settings,
        }
    )
