"""What holds for all tests."""

from pathlib import Path

import pytest

_CLUSTER = Path(__file__).parent / "cluster"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The tests of a cluster, which need root and minutes of building, run when they are named:
    `make test-cluster`, `pytest tests/cluster`."""
    if collection_path != _CLUSTER:
        return None
    here = config.invocation_params.dir
    named = (here / argument.partition("::")[0] for argument in config.args)
    return None if any(path.is_relative_to(_CLUSTER) for path in named) else True
