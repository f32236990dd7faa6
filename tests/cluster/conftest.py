"""What these tests need that not every machine has. CI has it, so there they never skip."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.cluster.replica_image import NEEDED

_BESIDES = ("docker-registry", "skopeo")


@pytest.fixture(scope="session")
def image_tools() -> None:
    missing = [program for program in (*NEEDED, *_BESIDES) if shutil.which(program) is None]
    why = f"needs {', '.join(missing)}" if missing else "needs root" if os.geteuid() else ""
    if why and not os.environ.get("CI"):
        pytest.skip(why)
    assert not why
